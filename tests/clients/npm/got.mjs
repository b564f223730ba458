// got with HTTP/2: node got.mjs CA RETRIES URL... asks for all of them at once, and each again after a refusal, when
// told, at most so many times. Prints as JSON the statuses.
import { readFileSync } from "node:fs";
import got from "got";

const [ca, retries, ...urls] = process.argv.slice(2);
const client = got.extend({ http2: true, throwHttpErrors: false, retry: { limit: Number(retries) },
  https: { certificateAuthority: readFileSync(ca) } });
console.log(JSON.stringify(await Promise.all(urls.map(async (url) => (await client.get(url)).statusCode))));
process.exit(0); // got keeps its connections
