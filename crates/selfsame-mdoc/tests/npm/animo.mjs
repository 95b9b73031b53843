// Issues, presents and verifies with @animo-id/mdoc. It leaves cryptography to who calls it: here Node.js has it.

import {
  X509Certificate,
  createECDH,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  hkdfSync,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { DeviceRequest, DeviceResponse, Document, MDoc, Verifier, parseDeviceResponse } from "@animo-id/mdoc";

import { answer, bytes, hex, pem, privateJwk } from "./keys.mjs";

const fixed = (key) => ({ key, dsaEncoding: "ieee-p1363" });

const context = {
  crypto: {
    random: (length) => randomBytes(length),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digestAlgorithm.replace("-", "").toLowerCase()).update(bytes).digest()),
    calculateEphemeralMacKeyJwk({ privateKey, publicKey, sessionTranscriptBytes }) {
      // Both keys come bare: the number, and the uncompressed point.
      const own = createECDH("prime256v1");
      own.setPrivateKey(Buffer.from(privateKey));
      const shared = own.computeSecret(Buffer.from(publicKey));
      const salt = createHash("sha256").update(sessionTranscriptBytes).digest();
      const key = Buffer.from(hkdfSync("sha256", shared, salt, "EMacKey", 32));
      return { kty: "oct", alg: "HS256", k: key.toString("base64url") };
    },
  },
  cose: {
    sign1: {
      sign: ({ sign1, jwk }) =>
        sign("sha256", sign1.getRawSigningData().data, fixed(createPrivateKey({ key: jwk, format: "jwk" }))),
      verify({ sign1, jwk, options }) {
        const { data, signature } = sign1.getRawVerificationData(options);
        return verify("sha256", data, fixed(createPublicKey({ key: jwk, format: "jwk" })), signature);
      },
    },
    mac0: {
      sign: ({ mac0, jwk }) =>
        createHmac("sha256", Buffer.from(jwk.k, "base64url")).update(mac0.getRawSigningData().data).digest(),
      verify({ mac0, jwk, options }) {
        const { data, signature } = mac0.getRawVerificationData(options);
        const tag = createHmac("sha256", Buffer.from(jwk.k, "base64url")).update(data).digest();
        return tag.length === signature.length && timingSafeEqual(tag, signature);
      },
    },
  },
  x509: {
    getIssuerNameField({ certificate, field }) {
      const lines = new X509Certificate(certificate).issuer.split("\n");
      return lines.filter((line) => line.startsWith(`${field}=`)).map((line) => line.slice(field.length + 1));
    },
    getPublicKey: ({ certificate }) => new X509Certificate(certificate).publicKey.export({ format: "jwk" }),
    validateCertificateChain({ trustedCertificates, x5chain }) {
      const signer = new X509Certificate(x5chain[0]);
      const trusted = trustedCertificates.map((certificate) => new X509Certificate(certificate));
      if (!trusted.some((authority) => signer.verify(authority.publicKey))) {
        throw new Error("no trusted authority signed the certificate");
      }
    },
    getCertificateData({ certificate }) {
      const read = new X509Certificate(certificate);
      return {
        issuerName: read.issuer,
        subjectName: read.subject,
        serialNumber: read.serialNumber,
        thumbprint: read.fingerprint256,
        notBefore: new Date(read.validFrom),
        notAfter: new Date(read.validTo),
        pem: read.toString(),
      };
    },
  },
};

// Maps and dates of the package as plain JSON.
const plain = (value) => {
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([name, one]) => [name, plain(one)]));
  }
  if (Array.isArray(value)) {
    return value.map(plain);
  }
  return value;
};

await answer({
  async verify(job) {
    const mdoc = await new Verifier().verifyDeviceResponse(
      {
        encodedDeviceResponse: bytes(job.response),
        encodedSessionTranscript: bytes(job.embedded),
        ephemeralReaderKey: job.reader,
        trustedCertificates: [bytes(job.authority)],
      },
      context,
    );
    const [document] = mdoc.documents;
    return { type: document.docType, elements: plain(document.getIssuerNameSpace(job.namespace)) };
  },

  async issue(job) {
    const document = await new Document(job.type, context)
      .addIssuerNameSpace(job.namespace, job.elements)
      .useDigestAlgorithm(job.digest)
      .addValidityInfo({
        signed: new Date(job.signed * 1000),
        validFrom: new Date(job.signed * 1000),
        validUntil: new Date(job.until * 1000),
      })
      .addDeviceKeyInfo({ deviceKey: job.device })
      .sign({ issuerPrivateKey: privateJwk(job.key), issuerCertificate: pem(job.certificate), alg: "ES256" }, context);
    return { response: hex(new MDoc([document]).encode()) };
  },

  async present(job) {
    const wanted = new Map(job.elements.map((element) => [element, false]));
    const request = DeviceRequest.from("1.0", [
      { itemsRequestData: { docType: job.type, nameSpaces: new Map([[job.namespace, wanted]]) } },
    ]);
    const draft = DeviceResponse.from(parseDeviceResponse(bytes(job.document)))
      .usingDeviceRequest(request)
      .usingSessionTranscriptBytes(bytes(job.embedded));
    const device = privateJwk(job.device);
    const proven = job.reader
      ? draft.authenticateWithMAC(device, job.reader, "HS256")
      : draft.authenticateWithSignature(device, "ES256");
    return { response: hex((await proven.sign(context)).encode()) };
  },
});
