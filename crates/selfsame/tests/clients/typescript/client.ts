// Issues a credential, accepts it into a wallet, presents it, and prints the outcome of its verification.

import createClient from "openapi-fetch";
import type { components, paths } from "./selfsame.js";

const baseUrl = process.env["ORIGIN"] ?? "http://localhost:7380";

function client(token?: string) {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return createClient<paths>({ baseUrl, headers });
}

/** The body of a response; an error of the API is thrown with its hint. */
function body<T>(answer: { data?: T; error?: components["schemas"]["Problem"] }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.error?.detail} (${answer.error?.hint ?? "no hint"})`);
  }
  return answer.data;
}

const operator = client(process.env["TOKEN"]);
const offer = body(
  await operator.POST("/api/issuer/offers", {
    body: { type: "immunization", format: "dc+sd-jwt", examples: true },
  }),
);

const account = { email: "rosa@example.org", password: "a long walk in the rain" };
const session = body(await client().POST("/api/wallet/register", { body: account }));
const person = client(session.token);
body(await person.POST("/api/wallet/offers/accept", { body: { offer: offer.uri } }));
const taken: components["schemas"]["OfferState"] = body(
  await operator.GET("/api/issuer/offers/{id}", { params: { path: { id: offer.id } } }),
).state;
if (taken !== "taken") {
  throw new Error(`the offer is ${taken}`);
}

const request = body(
  await operator.POST("/api/verifier/requests", { body: { type: "immunization" } }),
);
const preview = body(
  await person.POST("/api/wallet/requests/preview", { body: { request: request.uri } }),
);
const cards: Record<string, string> = {};
for (const share of preview.shares) {
  const choice = share.choices[0];
  if (choice !== undefined) {
    cards[share.query] = choice.card;
  }
}
body(await person.POST("/api/wallet/requests/answer", { body: { request: preview.id, cards } }));

const status = body(
  await operator.GET("/api/verifier/requests/{id}", {
    params: { path: { id: request.id }, query: { wait: 25 } },
  }),
);
console.log(status.verdict?.outcome);
