// Makes and resolves logs with didwebvh-ts: one job as JSON in, its result as JSON out.

import { generateKeyPairSync, createPublicKey, sign, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  createDID,
  createWitnessProof,
  deactivateDID,
  deriveNextKeyHash,
  multibaseEncode,
  MultibaseEncoding,
  prepareDataForSigning,
  resolveDIDFromLog,
  updateDID,
} from "didwebvh-ts";

const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

const verifier = {
  async verify(signature, message, publicKey) {
    const der = Buffer.concat([ED25519_SPKI, Buffer.from(publicKey)]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return verify(null, message, key, signature);
  },
};

function signer() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(ED25519_SPKI.length);
  const multikey = multibaseEncode(new Uint8Array([0xed, 0x01, ...raw]), MultibaseEncoding.BASE58_BTC);
  return {
    multikey,
    did: `did:key:${multikey}`,
    getVerificationMethodId: () => `did:key:${multikey}#${multikey}`,
    async sign({ document, proof }) {
      const signature = sign(null, await prepareDataForSigning(document, proof), privateKey);
      return { proofValue: multibaseEncode(new Uint8Array(signature), MultibaseEncoding.BASE58_BTC) };
    },
  };
}

const methods = (key) => [{ type: "Multikey", publicKeyMultibase: key.multikey, purpose: "authentication" }];
const lines = (log) => log.map((entry) => `${JSON.stringify(entry)}\n`).join("");

// A log that is rotated with pre-rotation, leaves it, and ends.
async function rotated(address) {
  const [one, two] = [signer(), signer()];
  const first = await createDID({
    address,
    signer: one,
    verifier,
    updateKeys: [one.multikey],
    nextKeyHashes: [await deriveNextKeyHash(two.multikey)],
    verificationMethods: methods(one),
    alsoKnownAsWeb: true,
  });
  const second = await updateDID({
    log: first.log,
    signer: two,
    verifier,
    updateKeys: [two.multikey],
    nextKeyHashes: [],
    verificationMethods: methods(two),
  });
  const ended = await deactivateDID({ log: second.log, signer: two, verifier });
  return { did: first.did, first: lines(first.log), second: lines(second.log), ended: lines(ended.log) };
}

// A portable log that moves, without pre-rotation.
async function moved(address, to) {
  const key = signer();
  const first = await createDID({
    address,
    signer: key,
    verifier,
    updateKeys: [key.multikey],
    verificationMethods: methods(key),
    portable: true,
  });
  const second = await updateDID({ log: first.log, signer: key, verifier, address: to, verificationMethods: methods(key) });
  return { did: first.did, to: second.did, log: lines(second.log) };
}

// A log whose entries two witnesses approve.
async function witnessed(address, paths) {
  const [key, ...witnesses] = [signer(), signer(), signer()];
  const made = await createDID({
    address,
    paths,
    signer: key,
    verifier,
    updateKeys: [key.multikey],
    verificationMethods: methods(key),
    witness: { threshold: 2, witnesses: witnesses.map(({ did }) => ({ id: did })) },
  });
  const { versionId } = made.log[0];
  const proofs = [];
  for (const witness of witnesses) {
    const by = async (document, proof) => ({ proof: await witness.sign({ document, proof }) });
    proofs.push(await createWitnessProof(by, versionId, witness.getVerificationMethodId()));
  }
  return { did: made.did, log: lines(made.log), witnesses: [{ versionId, proof: proofs }] };
}

async function resolved({ log, witnesses, options, did }) {
  const entries = log.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  try {
    const witnessProofs = witnesses ?? undefined;
    const found = await resolveDIDFromLog(entries, { verifier, witnessProofs, requestedDid: did, ...options });
    return found.meta.error ? { error: found.meta.error } : { doc: found.doc, meta: found.meta };
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

const job = JSON.parse(readFileSync(0, "utf8"));
const jobs = {
  rotated: () => rotated(job.address),
  moved: () => moved(job.address, job.to),
  witnessed: () => witnessed(job.address, job.paths),
  resolve: () => resolved(job),
};
process.stdout.write(JSON.stringify(await jobs[job.job]()));
