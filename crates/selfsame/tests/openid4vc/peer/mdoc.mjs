// Mobile documents of the peer, by the package @animo-id/mdoc. Its own transcripts are those of earlier drafts, so it is
// handed that of OpenID4VP 1.0 (Appendix B.2.6.1) as bytes.

import { X509Certificate, createHash, createPrivateKey, createPublicKey, randomBytes, sign, verify } from 'node:crypto'
import { DeviceRequest, DeviceResponse, Verifier, parseDeviceResponse } from '@animo-id/mdoc'

const fixed = (key) => ({ key, dsaEncoding: 'ieee-p1363' })
const sha256 = (data) => createHash('sha256').update(data).digest()

const context = {
  crypto: {
    random: (length) => randomBytes(length),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digestAlgorithm.replace('-', '').toLowerCase()).update(bytes).digest()),
  },
  cose: {
    sign1: {
      sign: ({ sign1, jwk }) =>
        sign('sha256', sign1.getRawSigningData().data, fixed(createPrivateKey({ key: jwk, format: 'jwk' }))),
      verify({ sign1, jwk, options }) {
        const { data, signature } = sign1.getRawVerificationData(options)
        return verify('sha256', data, fixed(createPublicKey({ key: jwk, format: 'jwk' })), signature)
      },
    },
  },
  x509: {
    getIssuerNameField({ certificate, field }) {
      const lines = new X509Certificate(certificate).issuer.split('\n')
      return lines.filter((line) => line.startsWith(`${field}=`)).map((line) => line.slice(field.length + 1))
    },
    getPublicKey: ({ certificate }) => new X509Certificate(certificate).publicKey.export({ format: 'jwk' }),
    validateCertificateChain({ trustedCertificates, x5chain }) {
      const signer = new X509Certificate(x5chain[0])
      const trusted = trustedCertificates.map((certificate) => new X509Certificate(certificate))
      if (!trusted.some((authority) => signer.verify(authority.publicKey))) {
        throw new Error('no trusted authority signed the certificate')
      }
    },
    getCertificateData({ certificate }) {
      const read = new X509Certificate(certificate)
      return {
        issuerName: read.issuer,
        subjectName: read.subject,
        serialNumber: read.serialNumber,
        thumbprint: read.fingerprint256,
        notBefore: new Date(read.validFrom),
        notAfter: new Date(read.validTo),
        pem: read.toString(),
      }
    },
  },
}

/** The head of an item of CBOR (RFC 8949 §3). */
function head(major, length) {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 0x100) return Buffer.from([(major << 5) | 24, length])
  if (length < 0x10000) return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
  const long = Buffer.alloc(5)
  long[0] = (major << 5) | 26
  long.writeUInt32BE(length, 1)
  return long
}
const NULL = Buffer.from([0xf6])
const text = (value) => Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
const bytes = (value) => Buffer.concat([head(2, value.length), value])
const array = (...items) => Buffer.concat([head(4, items.length), ...items])

/** The thumbprint of a key (RFC 7638). */
const thumbprint = ({ crv, kty, x, y }) => sha256(JSON.stringify({ crv, kty, x, y }))

/** The transcript of a request (Appendix B.2.6.1), as bytes of tag 24. `jwk` is the key that the answer is encrypted to. */
export function transcript({ clientId, nonce, jwk, responseUri }) {
  const info = array(text(clientId), text(nonce), jwk ? bytes(thumbprint(jwk)) : NULL, text(responseUri))
  const handover = array(text('OpenID4VPHandover'), bytes(sha256(info)))
  return Buffer.concat([head(6, 24), bytes(array(NULL, NULL, handover))])
}

const plain = (value) => {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, one]) => [name, plain(one)]))
  if (Array.isArray(value)) return value.map(plain)
  return value
}

/** The elements that a presentation shows, where the authority's signer and the device signed it for this session. */
export async function shown(presentation, { authority, session, namespace }) {
  const mdoc = await new Verifier().verifyDeviceResponse(
    {
      encodedDeviceResponse: Buffer.from(presentation, 'base64url'),
      encodedSessionTranscript: session,
      trustedCertificates: [new X509Certificate(authority).raw],
    },
    context,
  )
  const [document] = mdoc.documents
  return plain(document.getIssuerNameSpace(namespace))
}

/** A presentation of these elements of a document, signed by its holder for this session. */
export async function presentation(credential, { doctype, namespace, names, holder, session }) {
  const issued = Buffer.from(credential, 'base64url')
  const document = Buffer.concat([head(5, 2), text('docType'), text(doctype), text('issuerSigned'), issued])
  const version = Buffer.concat([text('version'), text('1.0')])
  const status = Buffer.concat([text('status'), head(0, 0)])
  const held = Buffer.concat([head(5, 3), version, text('documents'), array(document), status])
  const wanted = new Map(names.map((name) => [name, false]))
  const request = DeviceRequest.from('1.0', [
    { itemsRequestData: { docType: doctype, nameSpaces: new Map([[namespace, wanted]]) } },
  ])
  const proven = DeviceResponse.from(parseDeviceResponse(held))
    .usingDeviceRequest(request)
    .usingSessionTranscriptBytes(session)
    .authenticateWithSignature(holder.privateKey.export({ format: 'jwk' }), 'ES256')
  return Buffer.from((await proven.sign(context)).encode()).toString('base64url')
}
