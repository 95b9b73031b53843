// Keys, DIDs and SD-JWT VCs of the peer: the packages speak the protocols, and leave these to who uses them.

import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'

const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const decode = (text) => JSON.parse(Buffer.from(text, 'base64url').toString())
const digest = (text) => createHash('sha256').update(text).digest('base64url')
const seconds = () => Math.floor(Date.now() / 1000)

/** A new P-256 key: the private one, its public JWK, and a JWS made with it. */
export class Key {
  constructor(privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey) {
    this.privateKey = privateKey
    const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: 'jwk' })
    this.jwk = { kty, crv, x, y }
    this.did = `did:jwk:${encode(this.jwk)}`
  }

  sign(header, payload) {
    const input = `${encode(header)}.${encode(payload)}`
    const signature = sign('sha256', Buffer.from(input), { key: this.privateKey, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
}

/** The payload of a JWS that this P-256 or Ed25519 key signed; nothing of any other. */
export function verified(jws, jwk) {
  const [header, payload, signature] = jws.split('.')
  const { alg } = decode(header)
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const input = Buffer.from(`${header}.${payload}`)
  const bytes = Buffer.from(signature, 'base64url')
  const kinds = { ES256: ['P-256', 'sha256'], EdDSA: ['Ed25519', null] }
  const kind = kinds[alg]
  if (!kind || jwk.crv !== kind[0]) throw new Error(`a signature by ${alg}`)
  if (!verify(kind[1], input, { key, dsaEncoding: 'ieee-p1363' }, bytes)) throw new Error('the signature does not hold')
  return decode(payload)
}

/** The key of a did:jwk, or of the DID URL of its one key. */
export function keyOf(didUrl) {
  const [did] = didUrl.split('#')
  if (!did.startsWith('did:jwk:')) throw new Error(`${did} is no did:jwk`)
  return decode(did.slice('did:jwk:'.length))
}

/** An SD-JWT VC for this holder's key, each of the claims to be disclosed by itself (RFC 9901 §4). */
export function issue(issuer, { vct, claims, holder }) {
  const disclosures = Object.entries(claims).map((claim) => encode([randomBytes(16).toString('base64url'), ...claim]))
  const payload = {
    iss: issuer.did,
    iat: seconds(),
    vct,
    cnf: { jwk: holder },
    _sd_alg: 'sha-256',
    _sd: disclosures.map(digest).sort(),
  }
  const jws = issuer.sign({ alg: 'ES256', typ: 'dc+sd-jwt', kid: `${issuer.did}#0` }, payload)
  return `${[jws, ...disclosures].join('~')}~`
}

/** Who issued a credential, where the key of that did:jwk signed it. */
export function issuerOf(credential) {
  const [jws] = credential.split('~')
  const { iss } = decode(jws.split('.')[1])
  return verified(jws, keyOf(iss)).iss
}

/** The same credential with these claims disclosed, bound to a verifier and his nonce (RFC 9901 §4.3). */
export function present(credential, { names, holder, audience, nonce, transactions }) {
  const [jws, ...disclosures] = credential.split('~').slice(0, -1)
  const shown = disclosures.filter((disclosure) => names.includes(decode(disclosure)[1]))
  const text = `${[jws, ...shown].join('~')}~`
  const binding = { iat: seconds(), aud: audience, nonce, sd_hash: digest(text) }
  if (transactions) binding.transaction_data_hashes = transactions.map(digest)
  return text + holder.sign({ alg: 'ES256', typ: 'kb+jwt' }, binding)
}

/** What the holder's key binding of a presentation says. */
export function bindingOf(presentation) {
  return decode(presentation.split('~').at(-1).split('.')[1])
}

/** What a presentation says, where its issuer and its holder signed it for this verifier. */
export function disclosed(presentation, { issuer, audience, nonce }) {
  const parts = presentation.split('~')
  const [jws, binding] = [parts[0], parts.at(-1)]
  const payload = verified(jws, issuer)
  const bound = verified(binding, payload.cnf.jwk)
  const text = presentation.slice(0, presentation.lastIndexOf('~') + 1)
  if (bound.aud !== audience || bound.nonce !== nonce || bound.sd_hash !== digest(text)) {
    throw new Error('the presentation is for another request')
  }
  const claims = {}
  for (const disclosure of parts.slice(1, -1)) {
    if (!payload._sd.includes(digest(disclosure))) throw new Error('a disclosure that the issuer did not sign')
    const [, name, value] = decode(disclosure)
    claims[name] = value
  }
  return claims
}
