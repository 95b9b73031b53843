// Signs a person in with a client library that knows OpenID Connect and FAPI 2.0, and prints `valid` if all of it holds.

import * as oidc from "openid-client";

const origin = process.env["ORIGIN"] ?? "http://localhost:7380";
const issuer = new URL(`${origin}/oidc`);
const redirect_uri = "https://rp.example/cb";
const insecure = { execute: [oidc.allowInsecureRequests] };
const account = { email: "rosa@example.org", password: "a long walk in the rain" };
/** The cookies of the person's browser. */
const cookies = new Map<string, string>();

async function call(path: string, token: string | undefined, body?: unknown): Promise<any> {
  const headers: Record<string, string> = { "Content-Type": "application/json", Origin: origin };
  if (token !== undefined) {
    headers["Authorization"] = `Bearer ${token}`;
  }
  const response = await fetch(`${origin}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body ?? {}),
  });
  if (!response.ok) {
    throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
  return response.json();
}

/** What the person's browser does: follows no redirect, and keeps cookies. */
async function browse(url: URL, body?: unknown): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const headers: Record<string, string> = { Cookie: cookie, Origin: origin };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
  }
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, { redirect: "manual", headers, ...sent });
  for (const set of response.headers.getSetCookie()) {
    const [pair = ""] = set.split(";");
    const [name = "", value = ""] = pair.split("=");
    cookies.set(name, value);
  }
  if (response.status >= 400) {
    throw new Error(`${url.pathname}: ${response.status} ${await response.text()}`);
  }
  return response;
}

/** The person signs in and agrees to everything; the address that the browser is then sent to. */
async function signIn(url: URL): Promise<URL> {
  const begun = await browse(url);
  const place = new URL(begun.headers.get("location") ?? "", origin);
  if (place.origin !== origin) {
    return place;
  }
  const step = (name: string) => new URL(`${place.href}/${name}`);
  let view = await (await browse(place)).json();
  if (view.stage === "authentication") {
    const challenges = [{ factor: "password", value: account.password }];
    const attempt = { identifier: account.email, challenges };
    view = await (await browse(step("authentication"), attempt)).json();
  }
  const claims = [...view.essential, ...view.voluntary];
  const agreement = { claims, scopes: view.scopes };
  const landing = await (await browse(step("agreement"), agreement)).json();
  const back = new URL(landing.redirect_uri);
  for (const [name, value] of Object.entries<string>(landing.parameters)) {
    back.searchParams.set(name, value);
  }
  return back;
}

function check(holds: boolean, what: string) {
  if (!holds) {
    throw new Error(what);
  }
}

async function refused(promise: Promise<unknown>, code: string) {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  check(error?.error === code, `${code} expected, not ${error?.error ?? error}`);
}

const operator = process.env["TOKEN"];
await call("/api/wallet/register", undefined, account);

// The strict preset, with a client that registers itself.
const initial = await call("/api/sign-in/initial-tokens", operator, { uses: 1 });
const strict = await oidc.dynamicClientRegistration(
  issuer,
  {
    redirect_uris: [redirect_uri],
    client_name: "Strict",
    grant_types: ["authorization_code", "refresh_token"],
    id_token_signed_response_alg: "RS256",
    token_endpoint_auth_method: "client_secret_basic",
  },
  oidc.ClientSecretBasic(),
  { ...insecure, initialAccessToken: initial.secret },
);
const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
const request = {
  redirect_uri,
  scope: "openid email offline_access",
  code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
  state: oidc.randomState(),
  nonce: oidc.randomNonce(),
};
const checks = { pkceCodeVerifier, expectedState: request.state, expectedNonce: request.nonce };
const back = await signIn(oidc.buildAuthorizationUrl(strict, request));
const tokens = await oidc.authorizationCodeGrant(strict, back, checks);
const subject = tokens.claims()?.sub ?? "";
const about = await oidc.fetchUserInfo(strict, tokens.access_token, subject);
check(about.email === account.email, "the client did not learn the address");
const next = await oidc.refreshTokenGrant(strict, tokens.refresh_token ?? "");
const told = await oidc.tokenIntrospection(strict, next.access_token);
check(told.active, "a token that was refreshed is not active");
await oidc.tokenRevocation(strict, next.refresh_token ?? "");
await refused(oidc.refreshTokenGrant(strict, next.refresh_token ?? ""), "invalid_grant");
await refused(oidc.authorizationCodeGrant(strict, back, checks), "invalid_grant");

// The session of the browser serves without a page.
const silent = await signIn(oidc.buildAuthorizationUrl(strict, { ...request, prompt: "none" }));
check(silent.searchParams.has("code"), `no code: ${silent.search}`);

// The FAPI 2.0 preset: a pushed request, a client that signs, tokens that are bound to a key.
const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const jwk = await crypto.subtle.exportKey("jwk", keys.publicKey);
const fapi = await call("/api/sign-in/clients", operator, {
  preset: "fapi2",
  redirect_uris: [redirect_uri],
  client_name: "FAPI",
  token_endpoint_auth_method: "private_key_jwt",
  id_token_signed_response_alg: "ES256",
  jwks: { keys: [{ ...jwk, key_ops: undefined, ext: undefined, use: "sig", alg: "ES256" }] },
});
const config = await oidc.discovery(
  issuer,
  fapi.client_id,
  { id_token_signed_response_alg: "ES256" },
  oidc.PrivateKeyJwt(keys.privateKey),
  insecure,
);
const DPoP = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair("ES256"));
const pushed = { ...request, scope: "openid email" };
const url = await oidc.buildAuthorizationUrlWithPAR(config, pushed, { DPoP });
const bound = await oidc.authorizationCodeGrant(config, await signIn(url), checks, undefined, { DPoP });
check(bound.token_type === "dpop", `the token is ${bound.token_type}`);
const sub = bound.claims()?.sub ?? "";
const again = await oidc.fetchUserInfo(config, bound.access_token, sub, { DPoP });
check(again.email === account.email, "the FAPI client did not learn the address");

console.log("valid");
