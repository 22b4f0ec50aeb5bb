// Checks messages against the published schemas: JSON Schema, draft 2020-12, as any language reads it.
//
// usage: node validate.js SCHEMAS < MESSAGES      SCHEMAS is the folder contracts/schema; each line of MESSAGES is the
//                                                 name of a schema (views.json, events.json#/$defs/PlayerSeated), a
//                                                 blank, and a message. For each line: `valid`, or what is wrong.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const [folder] = process.argv.slice(2);
if (!folder) throw new Error("usage: node validate.js SCHEMAS < MESSAGES");

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats(ajv);
for (const name of await readdir(folder)) {
  if (name.endsWith(".json") && name !== "asyncapi.json") {
    ajv.addSchema(JSON.parse(await readFile(join(folder, name), "utf8")), name);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [name, message] = [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)];
  const valid = ajv.getSchema(name) ?? ajv.compile({ $ref: name });
  console.log(valid(JSON.parse(message)) ? "valid" : `${ajv.errorsText(valid.errors)}`);
}
