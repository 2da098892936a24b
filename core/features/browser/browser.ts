// Connects the parts of the browser feature to the program. Nothing is loaded or started before the tool is first used.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../contracts/errors.ts';
import { unwell, well, type Finding } from '../../contracts/health.ts';
import { domainSets, SafetyChecks } from '../../guard/safety/safety.ts';
import { childEnvironment, createCheckedPaths, screenVariables } from '../../hands/tools/tools.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { BrowserHost, type BrowserHostDeps } from './browser-host.ts';
import { findBrowser } from './launch.ts';
import { PinchTab } from './pinchtab.ts';
import { createPinchTabTool } from './pinchtab-tool.ts';
import { createBrowserTool } from './tool.ts';

export { browserActions, browserArgs, type BrowserAction } from './arguments.ts';
export { factsOf } from './call-facts.ts';
export type { ElementForm } from './element-form.ts';
export type { PageView } from './page-view.ts';

type Taken = Pick<Spine, 'home' | 'config' | 'environment' | 'later' | 'logger' | 'panic' | 'secrets' | 'instanceMarker' | 'closing'> & {
  readonly options: { readonly browser?: BrowserOptions };
};

export interface BrowserOptions {
  /** Replaces DNS and network connections in tests. */
  readonly ports?: Pick<BrowserHostDeps['proxy'], 'resolver' | 'dialer'>;
}

export const browser = defineBuiltInFeature({
  name: 'browser',
  create: (spine: Taken) => {
    const { ports = {} } = spine.options.browser ?? {};
    const { home, config, environment, secrets, instanceMarker } = spine;
    const { browser: settings, policy } = config;
    const allowDomains = [...policy.allowDomains, ...settings.allowHosts];
    const rules = new SafetyChecks({ policy: { allowDomains, denyDomains: policy.denyDomains }, usesProxy: config.web.useProxy });
    const listed = domainSets(allowDomains);
    const guard = { url: (url: string) => rules.url(url), isListed: (name: string) => listed.covers(name) };
    const refusalOf = (url: string): string | null => {
      const { decision, reason } = rules.url(url);
      return decision === 'allow' ? null : reason;
    };
    const resolve = (ref: string): Promise<string> => secrets.resolve(ref);
    if (settings.driver === 'pinchtab') {
      const server = new PinchTab({ baseUrl: settings.pinchtab.baseUrl, token: settings.pinchtab.token, resolve });
      return { tools: [createPinchTabTool({ server, guard, refusalOf, panic: spine.panic })] };
    }
    const host = new BrowserHost({
      ...spine,
      guard,
      proxy: { judge: rules, ...ports },
      plan: (proxy, headless) => ({
        home,
        executable: browserOf(settings.executable, environment),
        profile: join(home, 'browser'),
        proxy,
        headless: headless && settings.headless,
        environment: { ...screenVariables(environment), ...childEnvironment(environment, instanceMarker, process.platform) },
      }),
    });
    const tool = createBrowserTool({
      host,
      refusalOf,
      passwordsOf: (origin) => settings.passwords[origin] ?? [],
      resolve,
      paths: createCheckedPaths(homedir()),
    });
    const check = (): Finding[] => {
      if (settings.executable === undefined) return [];
      const found = findBrowser(settings.executable, environment);
      if (found !== null) return [well('browser', `The browser is ${found}.`)];
      return [
        unwell(
          'browser',
          `browser.executable names ${settings.executable}, and there is no such program.`,
          'Correct the path in config.yaml.',
        ),
      ];
    };
    // Hides the tool from models if no browser is installed.
    const isHere = findBrowser(settings.executable, environment) !== null;
    return { tools: [isHere ? tool : { ...tool, isSearched: true as const }], checks: [{ check }], dispose: () => host.close() };
  },
});

function browserOf(given: string | undefined, environment: Spine['environment']): string {
  const found = findBrowser(given, environment);
  if (found !== null) return found;
  throw new AppError('tool_failed', given === undefined ? 'No browser was found on this computer.' : `There is no browser at ${given}.`, {
    hint: 'Install Chrome, Chromium, Edge or Brave, or name one in browser.executable.',
  });
}
