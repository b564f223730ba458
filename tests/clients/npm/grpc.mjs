// grpc-js, gRPC's own client for Node: node grpc.mjs CA TARGET CALLS ATTEMPTS makes so many calls one after another,
// each with at most so many attempts where it is told RESOURCE_EXHAUSTED. Prints as JSON what has become of each.
import { readFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";

const [ca, target, calls, attempts] = process.argv.slice(2);
const retryPolicy = { maxAttempts: Number(attempts), initialBackoff: "0.01s", maxBackoff: "0.01s",
  backoffMultiplier: 1, retryableStatusCodes: ["RESOURCE_EXHAUSTED"] };
const config = { methodConfig: [{ name: [{}], ...(attempts > 1 ? { retryPolicy } : {}) }] };
const client = new grpc.Client(target, grpc.credentials.createSsl(readFileSync(ca)),
  { "grpc.service_config": JSON.stringify(config) });

function call(text) {
  return new Promise((resolve) => {
    client.makeUnaryRequest("/greeter/Hello", (each) => Buffer.from(each), (bytes) => bytes.toString(), text,
      new grpc.Metadata(), { deadline: Date.now() + 30000 }, (failure, answer) => resolve(failure
        ? { code: failure.code, pushback: Number(failure.metadata.get("grpc-retry-pushback-ms")[0]) }
        : { code: 0, answer }));
  });
}

const seen = [];
for (let number = 0; number < calls; ++number) seen.push(await call(`call ${number}`));
console.log(JSON.stringify(seen));
client.close();
