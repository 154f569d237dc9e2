"""An MCP server on HTTP that wants a sign-in, and its authorization server, for tests.

Both refuse what real ones refuse: a code that is used twice, a wrong verifier, another resource, an
unknown client or address, a token that has expired or permits too little. The words on the command
line make them misbehave. `/seen` says what was sent to whom, and `/expire` ends all access tokens.
"""

import base64
import hashlib
import http.server
import json
import secrets
import socketserver
import sys
import threading
from urllib.parse import parse_qs, urlencode, urlsplit

ways = set(sys.argv[1:])
clients, registered = {"by-hand": None}, {"by-hand": ["read"]}
codes, access, refresh, seen = {}, {}, {}, []
lock = threading.Lock()


def metadata():
    issuer = "https://elsewhere.example" if "wrong-issuer" in ways else ISSUER
    document = {
        "issuer": issuer,
        "authorization_endpoint": ISSUER + "/authorize",
        "token_endpoint": ISSUER + "/token",
        "registration_endpoint": ISSUER + "/register",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }
    if "no-registration" in ways:
        del document["registration_endpoint"]
    if "open-endpoint" in ways:
        document["token_endpoint"] = "http://id.example/token"
    if "no-pkce" in ways:
        document["code_challenge_methods_supported"] = ["plain"]
    if ways & {"iss", "wrong-iss", "no-iss"}:
        document["authorization_response_iss_parameter_supported"] = True
    if "huge" in ways:
        document["more"] = "x" * 1_000_000
    return document


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=None, headers=()):
        body = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def note(self):
        with lock:
            seen.append([type(self).__name__, self.path, self.headers.get("authorization")])

    def body(self):
        return self.rfile.read(int(self.headers["content-length"])).decode()

    def do_DELETE(self):
        self.reply(200)


class Authorization(Handler):
    def do_GET(self):
        self.note()
        url = urlsplit(self.path)
        if url.path == "/seen":
            return self.reply(200, seen)
        if url.path == "/expire":
            access.clear()
            return self.reply(200)
        if url.path == "/authorize":
            return self.authorize({name: one[0] for name, one in parse_qs(url.query).items()})
        wanted = "openid-configuration" if "openid" in ways else "oauth-authorization-server"
        if url.path != "/.well-known/" + wanted:
            return self.reply(404)
        if "slow" in ways:
            threading.Event().wait()
        if "redirect" in ways:
            return self.reply(302, headers=[("location", ISSUER + "/elsewhere")])
        self.reply(200, metadata())

    def authorize(self, query):
        redirects = clients.get(query.get("client_id"), [])
        is_known = redirects is None or query["redirect_uri"] in redirects
        is_right = (
            query.get("client_id") in clients
            and is_known
            and query["redirect_uri"].startswith("http://127.0.0.1:")
            and query["response_type"] == "code"
            and query["code_challenge_method"] == "S256"
            and len(query["code_challenge"]) == 43
            and query["resource"] == RESOURCE
            and len(query["state"]) >= 32
            and set(query.get("scope", "").split()) <= set(registered[query["client_id"]])
        )
        if not is_right:
            return self.reply(400, {"error": "invalid_request"})
        back = {"state": query["state"]}
        if "denied" in ways:
            back["error"] = "access_denied"
        else:
            code = secrets.token_urlsafe(24)
            codes[code] = query
            back["code"] = code
        if "iss" in ways:
            back["iss"] = ISSUER
        if "wrong-iss" in ways:
            back["iss"] = "https://elsewhere.example"
        self.reply(302, headers=[("location", query["redirect_uri"] + "?" + urlencode(back))])

    def do_POST(self):
        self.note()
        body = self.body()
        if self.path == "/register" and "no-registration" not in ways:
            form = json.loads(body)
            if form["token_endpoint_auth_method"] != "none" or len(form["redirect_uris"]) != 1:
                return self.reply(400, {"error": "invalid_client_metadata"})
            name = secrets.token_urlsafe(8)
            clients[name] = form["redirect_uris"]
            registered[name] = form.get("scope", "").split()
            return self.reply(201, {"client_id": name, **form})
        if self.path != "/token":
            return self.reply(404)
        form = {name: one[0] for name, one in parse_qs(body).items()}
        with lock:
            granted = self.grant(form)
        if granted is None:
            # What it says repeats what it was sent.
            text = json.dumps(form)
            return self.reply(400, {"error": "invalid_grant", "error_description": text})
        self.reply(200, granted)

    def grant(self, form):
        if form.get("client_id") not in clients or form.get("resource") != RESOURCE:
            return None
        if form["grant_type"] == "authorization_code":
            query = codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            digest = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if (
                query is None
                or query["code_challenge"] != digest
                or query["redirect_uri"] != form["redirect_uri"]
                or query["client_id"] != form["client_id"]
            ):
                return None
            scope = query.get("scope", "")
        elif form["grant_type"] == "refresh_token":
            owner, scope = refresh.pop(form["refresh_token"], (None, None))
            if owner != form["client_id"] or "no-refresh" in ways:
                return None
        else:
            return None
        token, again = "at-" + secrets.token_urlsafe(24), "rt-" + secrets.token_urlsafe(24)
        access[token], refresh[again] = scope.split(), (form["client_id"], scope)
        lifetime = 1 if "short" in ways else 3600
        answer = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime}
        return {**answer, "refresh_token": again, "scope": scope}


class Tools(Handler):
    def challenge(self, status, more):
        place = ORIGIN + "/.well-known/oauth-protected-resource/mcp"
        if "unnamed" in ways or "undescribed" in ways:
            header = "Bearer"
        else:
            header = f'Bearer resource_metadata="{place}"'
        self.reply(status, headers=[("www-authenticate", header + more)])

    def do_GET(self):
        self.note()
        if self.path == "/mcp":
            return self.reply(405)
        if "undescribed" in ways:
            # As in the first version of the specification.
            if self.path != "/.well-known/oauth-authorization-server":
                return self.reply(404)
            return self.reply(200, {**metadata(), "issuer": ORIGIN})
        if self.path != "/.well-known/oauth-protected-resource/mcp":
            return self.reply(404)
        resource = "https://elsewhere.example/mcp" if "other-resource" in ways else RESOURCE
        document = {"resource": resource, "authorization_servers": [ISSUER]}
        self.reply(200, {**document, "scopes_supported": ["read"]})

    def do_POST(self):
        self.note()
        request = json.loads(self.body())
        kind, _, token = (self.headers.get("authorization") or "").partition(" ")
        if kind != "Bearer" or token not in access or "refuses" in ways:
            return self.challenge(401, ', scope="read"' if "unnamed" in ways else "")
        if "away" in ways:
            return self.reply(307, headers=[("location", ISSUER + "/elsewhere")])
        if "echo" in ways:
            return self.reply(500, {"error": "cannot use " + token})
        if "id" not in request:
            return self.reply(202)
        result, params = None, request.get("params") or {}
        if request["method"] == "initialize":
            info = {"name": "far", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            result["serverInfo"] = info
        elif request["method"] == "tools/list":
            names = ["whoami", "admin"]
            schema = {"type": "object"}
            result = {"tools": [{"name": name, "inputSchema": schema} for name in names]}
        elif request["method"] == "tools/call":
            if params["name"] == "admin" and "admin" not in access[token]:
                more = ', error="insufficient_scope", scope="admin"'
                return self.challenge(403, more)
            text = params["name"] + ": " + " ".join(access[token])
            result = {"content": [{"type": "text", "text": text}]}
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        unknown = {"error": {"code": -32601, "message": "unknown"}}
        self.reply(200, answer | ({"result": result} if result else unknown))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


authorization = Server(("127.0.0.1", 0), Authorization)
tools = Server(("127.0.0.1", 0), Tools)
ISSUER = f"http://127.0.0.1:{authorization.server_port}"
ORIGIN = f"http://127.0.0.1:{tools.server_port}"
RESOURCE = ORIGIN + "/mcp"
threading.Thread(target=authorization.serve_forever, daemon=True).start()
print(json.dumps({"issuer": ISSUER, "url": RESOURCE}), flush=True)
tools.serve_forever()
