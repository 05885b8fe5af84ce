// The Khronos validator on the files named on the command line; prints {file: {errors, …, messages}}.
import { readFile } from "node:fs/promises";
import path from "node:path";
import validator from "gltf-validator";

const reports = {};
for (const file of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(await readFile(file)), {
    uri: path.basename(file),
    maxIssues: 1000,
    externalResourceFunction: async (uri) =>
      new Uint8Array(await readFile(path.join(path.dirname(file), decodeURIComponent(uri)))),
  });
  const { numErrors: errors, numWarnings: warnings, numInfos: infos, messages } = report.issues;
  reports[file] = { errors, warnings, infos, messages };
}
process.stdout.write(JSON.stringify(reports));
