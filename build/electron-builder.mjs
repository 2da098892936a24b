// Configures the packaging of the app. Signing and notarization are enabled if the environment provides what they need. Publishes nothing.

import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Arch } from 'electron-builder';
import { fuseFile, fuses, setLastFuse } from './fuses.ts';
import { missingNativeFiles, packedModules, packedOutput, unpackedPatterns } from './packed-files.ts';

/** @typedef {import('electron-builder').Configuration} Configuration */
/** @typedef {import('./packed-files.ts').PackedPlatform} PackedPlatform */

export const productName = 'TrayClaw';
/** Not `trayclaw`, which is the command line. */
export const linuxExecutable = 'trayclaw-desktop';
/** Package formats require an address; `.invalid` marks that none exists (RFC 2606). */
const HOMEPAGE = 'https://trayclaw.invalid/';
const AUTHORS = 'The TrayClaw authors';

/**
 * @param {string} root
 * @param {Record<string, string | undefined>} env
 * @returns {Configuration}
 */
export function packagingConfig(root, env) {
  return {
    appId: 'io.trayclaw.desktop',
    productName,
    copyright: `Copyright (c) ${AUTHORS}`,
    directories: { buildResources: 'build', output: 'release' },
    // Electron starts with `main`, which in the npm package is the library.
    extraMetadata: { homepage: HOMEPAGE, author: AUTHORS, main: 'dist/desktop.js' },
    electronVersion: electronVersion(root),
    asar: true,
    asarUnpack: unpackedPatterns,
    // All native code uses Node-API, which is the same in Node and in Electron, so nothing is rebuilt.
    npmRebuild: false,
    // Each platform lists the node_modules it needs; the packer's own collection would also include everything that is bundled.
    files: [
      'package.json',
      'LICENSE',
      'build/icons/icon.png',
      'build/tray-icons/**',
      'skills/**',
      ...packedOutput(root),
      '!node_modules/**',
    ],
    electronFuses: fuses,
    // Electron-builder's default for AppImage needs libfuse2, which current systems no longer bring, and always turns the sandbox off.
    toolsets: { appimage: '1.0.3' },
    protocols: [{ name: productName, schemes: ['trayclaw'] }],
    artifactName: '${productName}-${version}-${os}-${arch}.${ext}',
    compression: 'normal',
    // Writes the files of an update feed, and app-update.yml, from which the updater reads its download folder and on Windows the publisher
    // whose signature it demands. The address in it is never asked: a person's settings name the feed.
    publish: { provider: 'generic', url: HOMEPAGE },
    beforePack: ({ electronPlatformName, arch }) => requireNativeFiles(root, electronPlatformName, Arch[arch]),
    afterExtract: ({ appOutDir, electronPlatformName }) => removeElectronsOwn(appOutDir, electronPlatformName),
    afterPack: ({ appOutDir, electronPlatformName }) =>
      setLastFuse(fuseFile(appOutDir, electronPlatformName, { product: productName, executable: linuxExecutable })),
    ...platforms(root, env),
  };
}

/**
 * A secret that a repository does not have arrives as an empty variable, which electron-builder takes for the name of a certificate's file.
 * @param {Record<string, string | undefined>} env
 */
export function removeEmptySecrets(env) {
  for (const name of Object.keys(env)) if (/^(?:(?:WIN_)?CSC|APPLE)_/.test(name) && env[name] === '') delete env[name];
}

/**
 * Removes Electron's default app and its version note: the packer leaves them in an Electron that it did not download itself.
 * @param {string} folder
 * @param {string} platform
 */
function removeElectronsOwn(folder, platform) {
  const resources = platform === 'darwin' ? 'Electron.app/Contents/Resources' : 'resources';
  for (const file of [`${resources}/default_app.asar`, 'version']) rmSync(join(folder, file), { force: true });
}

/**
 * Adds the command line of the installed app to its folder.
 * @param {string} name
 */
function command(name) {
  return { from: `build/command/${name}`, to: `bin/${name}` };
}

/**
 * Adds the same file to /usr/bin, for Linux packages; the package manager removes it with the package.
 * @param {string} root
 */
function inPath(root) {
  return `${join(root, 'build/command/trayclaw')}=/usr/bin/trayclaw`;
}

/**
 * @param {string} root
 * @param {Record<string, string | undefined>} env
 * @returns {Configuration}
 */
function platforms(root, env) {
  const isSigned = [env.CSC_LINK, env.CSC_NAME].some((value) => (value ?? '') !== '');
  const canNotarize = [env.APPLE_API_KEY, env.APPLE_ID, env.APPLE_KEYCHAIN_PROFILE].some((value) => (value ?? '') !== '');
  return {
    mac: {
      target: ['dmg', 'zip'],
      extraResources: [command('trayclaw')],
      files: moduleFiles('darwin'),
      icon: 'build/icons/icon.icns',
      category: 'public.app-category.productivity',
      darkModeSupport: true,
      // Work continues behind a hidden window, which macOS would slow down.
      extendInfo: { LSAppNapIsDisabled: true, NSAppleEventsUsageDescription: 'A command that was approved controls another app.' },
      // A hardened program on macOS may not load libraries without a team's signature, so hardening needs a certificate.
      hardenedRuntime: isSigned,
      ...(isSigned ? { sign: signMac } : { identity: '-' }),
      // Commands such as osascript may control other apps only if the app that runs them may ask the person for it.
      entitlements: 'build/entitlements.mac.app.plist',
      entitlementsInherit: 'build/entitlements.mac.plist',
      notarize: isSigned && canNotarize,
    },
    win: {
      target: ['nsis'],
      extraResources: [command('trayclaw.cmd')],
      files: moduleFiles('win32'),
      icon: 'build/icons/icon.ico',
      requestedExecutionLevel: 'asInvoker',
    },
    nsis: {
      oneClick: false,
      perMachine: false,
      allowToChangeInstallationDirectory: true,
      createDesktopShortcut: false,
      deleteAppDataOnUninstall: false,
      artifactName: '${productName}-${version}-${os}-${arch}-setup.${ext}',
    },
    linux: {
      target: ['AppImage', 'deb', 'rpm'],
      extraResources: [command('trayclaw')],
      files: moduleFiles('linux'),
      icon: 'build/icons',
      executableName: linuxExecutable,
      // With desktopName of package.json, the entry's name and window class match those of the running window.
      syncDesktopName: true,
      category: 'Utility',
      synopsis: 'A local-first agent in your desktop tray',
      maintainer: `${AUTHORS} <authors@trayclaw.invalid>`,
      vendor: productName,
      desktop: { entry: { Keywords: 'agent;assistant;automation;' } },
    },
    // The updater puts a new version under its own name if the old name has a version; then nothing starts at login any more.
    appImage: { artifactName: '${productName}-${os}-${arch}.${ext}' },
    rpm: { fpm: [inPath(root)] },
    deb: { fpm: [inPath(root)], packageCategory: 'utils', recommends: ['libayatana-appindicator3-1', 'bubblewrap', 'socat', 'ripgrep'] },
  };
}

/**
 * Signs as electron-builder does, except that the helper for utility processes may load the engine's library, which has another signature.
 * @param {import('app-builder-lib').CustomMacSignOptions} options
 */
async function signMac(options) {
  const { sign } = await import('app-builder-lib/out/codeSign/macCodeSign.js');
  await sign(withPluginEntitlements(options));
}

/**
 * @template {Pick<import('app-builder-lib').CustomMacSignOptions, 'optionsForFile'>} T
 * @param {T} options
 * @returns {T}
 */
export function withPluginEntitlements(options) {
  const { optionsForFile } = options;
  return {
    ...options,
    optionsForFile: (file) => ({
      ...optionsForFile?.(file),
      ...(file.includes(`${productName} Helper (Plugin).app`) ? { entitlements: 'build/entitlements.mac.plugin.plist' } : {}),
    }),
  };
}

/**
 * @param {PackedPlatform} platform
 * @returns {import('electron-builder').FileSet[]}
 */
function moduleFiles(platform) {
  return Object.entries(packedModules(platform)).map(([name, filter]) => ({
    from: join('node_modules', name),
    to: join('node_modules', name),
    filter,
  }));
}

/**
 * @param {string} root
 * @param {string} platform
 * @param {string} arch
 */
function requireNativeFiles(root, platform, arch) {
  const missing = missingNativeFiles(root, /** @type {PackedPlatform} */ (platform), arch);
  if (missing.length === 0) return;
  throw new Error(`${missing.join(', ')} missing; run "npm ci --os=${platform} --cpu=${arch}", or package on such a machine`);
}

/** @param {string} root */
function electronVersion(root) {
  return String(createRequire(join(root, 'package.json'))('./package.json').devDependencies.electron);
}
