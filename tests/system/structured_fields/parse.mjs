// Reads one JSON array of field values, the lines of one field, from each line of standard input and
// writes what structured-headers makes of their List: [[value, {parameter: value}], …] or null where
// it refuses to parse.
import { createInterface } from "node:readline";
import { parseList } from "structured-headers";

// A byte sequence is an ArrayBuffer, which JSON does not have.
const plain = (value) =>
  value instanceof ArrayBuffer
    ? { bytes: Buffer.from(value).toString("base64") }
    : ArrayBuffer.isView(value)
      ? { bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") }
      : value;

const read = (lines) => {
  try {
    return parseList(lines.join(", ")).map(([value, parameters]) => [
      plain(value),
      Object.fromEntries([...parameters].map(([key, each]) => [key, plain(each)])),
    ]);
  } catch {
    return null;
  }
};

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(read(JSON.parse(line))));
