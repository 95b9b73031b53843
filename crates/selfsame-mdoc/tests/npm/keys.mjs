// What both packages need: jobs as JSON in, an answer as JSON out, bytes in hexadecimal.

import { createPrivateKey } from "node:crypto";
import { text } from "node:stream/consumers";

export const bytes = (hex) => Buffer.from(hex, "hex");
export const hex = (data) => Buffer.from(data).toString("hex");

/** A private key in PKCS#8 as a JWK. */
export const privateJwk = (pkcs8) =>
  createPrivateKey({ key: bytes(pkcs8), format: "der", type: "pkcs8" }).export({ format: "jwk" });

/** A certificate in DER as PEM. */
export const pem = (der) =>
  `-----BEGIN CERTIFICATE-----\n${bytes(der).toString("base64").match(/.{1,64}/g).join("\n")}\n-----END CERTIFICATE-----\n`;

/** Whether the job fails is part of the answer: wrong documents must be refused. */
export async function answer(jobs) {
  const job = JSON.parse(await text(process.stdin));
  let said;
  try {
    said = await jobs[job.do](job);
  } catch (error) {
    said = { refused: String(error?.message ?? error) };
  }
  process.stdout.write(JSON.stringify(said));
}
