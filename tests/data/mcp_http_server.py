"""A small MCP server on HTTP for tests: what it sends by itself is longer than anybody reads."""

import http.server
import json
import socketserver
import threading

VERSION = "2025-06-18"
TOO_LONG = 33 * 1024 * 1024
has_changed = threading.Event()


def tool(name):
    return {"name": name, "description": "", "inputSchema": {"type": "object"}}


def answer(method, params):
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "far", "version": "1"}
        return {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [tool("one")] + ([tool("two")] if has_changed.is_set() else [])}
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in request:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        result = answer(request["method"], request.get("params"))
        body = {"jsonrpc": "2.0", "id": request["id"]}
        body |= {"result": result} if result else {"error": {"code": -32601, "message": "unknown"}}
        body = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("mcp-session-id", "s1")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        log = {"method": "notifications/message", "params": {"data": "x" * TOO_LONG}}
        self.event(log)
        has_changed.set()
        self.event({"method": "notifications/tools/list_changed"})
        threading.Event().wait()

    def event(self, message):
        data = json.dumps({"jsonrpc": "2.0", **message})
        self.wfile.write(f"event: message\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def do_DELETE(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
