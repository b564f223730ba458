// node client.mjs URL CONNECTIONS SIZE...: sends messages of these sizes over so many WebSockets at
// once and wants each back. Prints what went through as JSON.
import { randomBytes } from "node:crypto";
import { WebSocket } from "ws";

const [url, connections, ...sizes] = process.argv.slice(2);

const talk = () =>
  new Promise((done, failed) => {
    const socket = new WebSocket(url, { maxPayload: 1 << 28 });
    const messages = sizes.map((size) => randomBytes(Number(size)));
    let next = 0;
    let pongs = 0;
    socket.on("open", () => {
      socket.ping("are you there");
      socket.send(messages[0]);
    });
    socket.on("pong", () => (pongs += 1));
    socket.on("message", (data) => {
      if (!messages[next].equals(data)) failed(new Error(`message ${next} came back changed`));
      next += 1;
      if (next < messages.length) socket.send(messages[next]);
      else socket.close(1000, "enough");
    });
    socket.on("close", (code) => done({ messages: next, pongs, code }));
    socket.on("error", failed);
  });

const results = await Promise.all(Array.from({ length: Number(connections) }, talk));
console.log(JSON.stringify(results));
