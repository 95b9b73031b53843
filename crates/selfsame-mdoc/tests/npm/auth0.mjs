// Issues, presents and verifies with @auth0/mdl.

import { DeviceResponse, Document, MDoc, Verifier, parse } from "@auth0/mdl";
import { COSEKeyFromJWK } from "cose-kit";

import { answer, bytes, hex, pem, privateJwk } from "./keys.mjs";

await answer({
  async verify(job) {
    const verifier = new Verifier([pem(job.authority)]);
    const mdoc = await verifier.verify(bytes(job.response), {
      encodedSessionTranscript: bytes(job.embedded),
      ephemeralReaderKey: job.reader && COSEKeyFromJWK(job.reader),
    });
    const [document] = mdoc.documents;
    return { type: document.docType, elements: document.getIssuerNameSpace(job.namespace) };
  },

  async issue(job) {
    const document = await new Document(job.type)
      .addIssuerNameSpace(job.namespace, job.elements)
      .useDigestAlgorithm(job.digest)
      .addValidityInfo({
        signed: new Date(job.signed * 1000),
        validFrom: new Date(job.signed * 1000),
        validUntil: new Date(job.until * 1000),
      })
      .addDeviceKeyInfo({ deviceKey: job.device })
      .sign({ issuerPrivateKey: privateJwk(job.key), issuerCertificate: pem(job.certificate), alg: "ES256" });
    return { response: hex(new MDoc([document]).encode()) };
  },

  async present(job) {
    const fields = job.elements.map((element) => ({
      path: [`$['${job.namespace}']['${element}']`],
      intent_to_retain: false,
    }));
    const draft = DeviceResponse.from(parse(bytes(job.document)))
      .usingPresentationDefinition({
        id: "wanted",
        input_descriptors: [
          {
            id: job.type,
            format: { mso_mdoc: { alg: ["ES256"] } },
            constraints: { limit_disclosure: "required", fields },
          },
        ],
      })
      .usingSessionTranscriptBytes(bytes(job.embedded));
    const device = privateJwk(job.device);
    const proven = job.reader
      ? draft.authenticateWithMAC(device, COSEKeyFromJWK(job.reader), "HS256")
      : draft.authenticateWithSignature(device, "ES256");
    return { response: hex((await proven.sign()).encode()) };
  },
});
