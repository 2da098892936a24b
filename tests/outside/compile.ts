// `compile.ts SETTINGS`: type-checks files in the working folder with the package's types, for each setting its own, and prints the errors.
// One process for all settings: the compiler is warm after the first, and files that two settings parse alike are parsed once. The
// long run also checks the types of other packages, which takes half the time.

import { argv, cwd, env, exit, stdout } from 'node:process';
import ts from 'typescript';
import * as z from 'zod';

const settingsSchema = z.array(z.tuple([z.string(), z.record(z.string(), z.unknown()), z.array(z.string())]));

const [, , settings = '[]'] = argv;
/** Parsed files by module system, because that determines how a file is parsed. */
const readSoFar = new Map<ts.ModuleKind | undefined, Map<string, ts.SourceFile>>();

const lines = settingsSchema.parse(JSON.parse(settings)).flatMap(([name, setting, files]) => {
  const { options, errors } = ts.convertCompilerOptionsFromJson(setting, cwd());
  const program = ts.createProgram({ rootNames: files, options, host: hostFor(options) });
  return [...errors, ...(env['TRAYCLAW_SOAK'] === undefined ? ownProblems(program) : ts.getPreEmitDiagnostics(program))].map((found) => {
    const place =
      found.file === undefined ? '' : `${found.file.fileName}:${ts.getLineAndCharacterOfPosition(found.file, found.start ?? 0).line + 1} `;
    return `${name}: ${place}${ts.flattenDiagnosticMessageText(found.messageText, ' ')}\n`;
  });
});
stdout.write(lines.join(''));
exit(lines.length > 0 ? 1 : 0);

function ownProblems(program: ts.Program): readonly ts.Diagnostic[] {
  const own = program.getSourceFiles().filter(({ fileName }) => /\/node_modules\/trayclaw\/|^(?!.*\/node_modules\/)/.test(fileName));
  const inFiles = own.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
  return [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(), ...inFiles];
}

function hostFor(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const known = readSoFar.get(options.module) ?? new Map<string, ts.SourceFile>();
  readSoFar.set(options.module, known);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...more) => {
    const file = known.get(path) ?? read(path, ...more);
    if (file !== undefined) known.set(path, file);
    return file;
  };
  return host;
}
