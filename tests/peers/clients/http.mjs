// Puts an MCP server that speaks over stdio behind HTTP, for the conformance suite, which knows no
// other transport. Each session gets a process of its own, and messages pass as they are.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const facts = JSON.parse(process.argv[2]);
const { StreamableHTTPServerTransport } = await import(facts.modules.http);
const { StdioClientTransport } = await import(facts.modules.stdio);

const sessions = new Map();

async function open() {
  const http = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, http),
  });
  const server = new StdioClientTransport({ command: facts.command, args: facts.arguments });
  // Progress goes to the stream of the request that it is about.
  const requests = new Map();
  http.onmessage = (message) => {
    const token = message.params?._meta?.progressToken;
    if (token !== undefined) requests.set(token, message.id);
    server.send(message);
  };
  server.onmessage = (message) => {
    const relatedRequestId = requests.get(message.params?.progressToken);
    http.send(message, { relatedRequestId });
  };
  http.onclose = () => server.close();
  await server.start();
  await http.start();
  return http;
}

const listener = createServer(async (request, response) => {
  const http = sessions.get(request.headers["mcp-session-id"]) ?? (await open());
  await http.handleRequest(request, response);
});
listener.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: listener.address().port })));

// Ends with its starter.
process.stdin.resume().on("end", async () => {
  await Promise.all([...sessions.values()].map((http) => http.close()));
  process.exit(0);
});
