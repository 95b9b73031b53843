// Issues and verifies credentials and presentations with @digitalbazaar/vc, and canonizes documents with jsonld. A job
// as JSON in, an answer as JSON out. Contexts come with the job, so that nothing is fetched.

import { text } from "node:stream/consumers";

import { DataIntegrityProof } from "@digitalbazaar/data-integrity";
import * as EcdsaMultikey from "@digitalbazaar/ecdsa-multikey";
import * as Ed25519Multikey from "@digitalbazaar/ed25519-multikey";
import * as ecdsaJcs from "@digitalbazaar/ecdsa-jcs-2019-cryptosuite";
import { cryptosuite as ecdsaRdfc } from "@digitalbazaar/ecdsa-rdfc-2019-cryptosuite";
import * as eddsaJcs from "@digitalbazaar/eddsa-jcs-2022-cryptosuite";
import { cryptosuite as eddsaRdfc } from "@digitalbazaar/eddsa-rdfc-2022-cryptosuite";
import * as vc from "@digitalbazaar/vc";
import jsonld from "jsonld";

const SUITES = {
  "eddsa-rdfc-2022": { sign: () => eddsaRdfc, verify: () => eddsaRdfc, keys: Ed25519Multikey },
  "ecdsa-rdfc-2019": { sign: () => ecdsaRdfc, verify: () => ecdsaRdfc, keys: EcdsaMultikey },
  "eddsa-jcs-2022": {
    sign: eddsaJcs.createSignCryptosuite,
    verify: eddsaJcs.createVerifyCryptosuite,
    keys: Ed25519Multikey,
  },
  "ecdsa-jcs-2019": {
    sign: ecdsaJcs.createSignCryptosuite,
    verify: ecdsaJcs.createVerifyCryptosuite,
    keys: EcdsaMultikey,
  },
};

/** The controller document of a did:key, or one of its methods. */
function resolved(url) {
  const [did, fragment] = url.split("#");
  const multikey = did.slice("did:key:".length);
  const method = {
    "@context": "https://w3id.org/security/multikey/v1",
    id: `${did}#${multikey}`,
    type: "Multikey",
    controller: did,
    publicKeyMultibase: multikey,
  };
  if (fragment) {
    return method;
  }
  const { "@context": _, ...inner } = method;
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
    id: did,
    verificationMethod: [inner],
    assertionMethod: [method.id],
    authentication: [method.id],
  };
}

const loader = (contexts) => async (url) => {
  const document = url.startsWith("did:key:") ? resolved(url) : contexts[url];
  if (!document) {
    throw new Error(`nothing is fetched: ${url}`);
  }
  return { contextUrl: null, documentUrl: url, document };
};

async function suiteOf({ suite, multikey, secret }) {
  const { sign, keys } = SUITES[suite];
  const did = `did:key:${multikey}`;
  const key = await keys.from({
    "@context": "https://w3id.org/security/multikey/v1",
    id: `${did}#${multikey}`,
    type: "Multikey",
    controller: did,
    publicKeyMultibase: multikey,
    secretKeyMultibase: secret,
  });
  return new DataIntegrityProof({ signer: key.signer(), cryptosuite: sign() });
}

/** The status is for others to judge. */
const checkStatus = async () => ({ verified: true });
const verifier = (suite) => new DataIntegrityProof({ cryptosuite: SUITES[suite].verify() });
const said = (result) => ({ verified: result.verified, why: JSON.stringify(result.error ?? result) });

const jobs = {
  async issue({ credential, key, contexts }) {
    const suite = await suiteOf(key);
    return { document: await vc.issue({ credential, suite, documentLoader: loader(contexts) }) };
  },

  async verify({ credential, suite, contexts }) {
    return said(
      await vc.verifyCredential({
        credential,
        suite: verifier(suite),
        documentLoader: loader(contexts),
        checkStatus,
      }),
    );
  },

  async present({ presentation, key, contexts, challenge, domain }) {
    const suite = await suiteOf(key);
    const documentLoader = loader(contexts);
    return { document: await vc.signPresentation({ presentation, suite, challenge, domain, documentLoader }) };
  },

  async verifyPresentation({ presentation, suite, contexts, challenge, domain }) {
    const documentLoader = loader(contexts);
    const asked = { presentation, suite: verifier(suite), challenge, domain, documentLoader, checkStatus };
    return said(await vc.verify(asked));
  },

  async canonize({ document, contexts }) {
    const options = { algorithm: "RDFC-1.0", format: "application/n-quads", safe: true, base: null };
    return { lines: await jsonld.canonize(document, { ...options, documentLoader: loader(contexts) }) };
  },
};

const job = JSON.parse(await text(process.stdin));
let answer;
try {
  answer = await jobs[job.do](job);
} catch (error) {
  answer = { refused: String(error?.message ?? error) };
}
process.stdout.write(JSON.stringify(answer));
