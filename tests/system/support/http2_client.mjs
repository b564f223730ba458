// Node's own client of HTTP/2 against a gateway: node http2_client.mjs URL CA requests|socket. Prints as JSON what it
// has got.
import { readFileSync } from "node:fs";
import http2 from "node:http2";

const [url, ca, what] = process.argv.slice(2);
const session = http2.connect(url, { ca: readFileSync(ca) });

function fetched(headers, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    const chunks = [];
    const interim = [];
    let head;
    let trailers = {};
    stream.on("headers", (fields) => interim.push(fields[":status"]));
    stream.on("response", (fields) => (head = fields));
    stream.on("trailers", (fields) => (trailers = { ...fields }));
    stream.on("data", (chunk) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () =>
      resolve({ status: head[":status"], retry: head["retry-after"], interim, trailers, body: Buffer.concat(chunks) }));
    if (body !== undefined) stream.end(body);
  });
}

// A text of two bytes there and back, in frames of RFC 6455: masked by zeros, and not masked.
function webSocket() {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "CONNECT", ":protocol": "websocket", ":path": "/socket",
      "sec-websocket-version": "13" }, { endStream: false });
    stream.on("error", reject);
    stream.on("response", (fields) => {
      if (fields[":status"] !== 200) reject(new Error(`status ${fields[":status"]}`));
      stream.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    });
    stream.on("data", (frame) => {
      stream.end(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
      resolve(frame.subarray(2).toString());
    });
  });
}

await new Promise((resolve) => session.once("remoteSettings", resolve));

async function requests() {
  const upload = Buffer.alloc(3_000_000, "u");
  const streams = await Promise.all(Array.from({ length: 100 }, (_, i) => fetched({ ":path": `/${i}` })));
  const echoed = await fetched({ ":method": "POST", ":path": "/echo" }, upload);
  const sized = await fetched({ ":method": "POST", ":path": "/echo", "content-length": 3_000_000 }, upload);
  const hinted = await fetched({ ":path": "/hints", te: "trailers" });
  const refused = await fetched({ ":path": "/limited" });
  return {
    statuses: streams.map((each) => each.status),
    echoes: [echoed, sized].map((each) => each.body.equals(upload)),
    hinted: { ...hinted, body: hinted.body.toString() },
    refused: { status: refused.status, retry: refused.retry },
  };
}

console.log(JSON.stringify(what === "socket" ? await webSocket() : await requests()));
session.close();
