// An OpenID Connect provider for tests, whose accounts are named by their e-mail addresses. Its
// arguments are its module and the address to which browsers come back. It prints its own address.
import http from "node:http";

const [modulePath, redirect] = process.argv.slice(2);
const { Provider } = await import(modulePath);
const server = http.createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: "callgate", client_secret: "s3cret+/=", redirect_uris: [redirect] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  conformIdTokenClaims: false,
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: id, email_verified: !id.startsWith("unproved") }),
  }),
});
server.on("request", provider.callback());
console.log(issuer);
