// A client of a Selfsame registry (docs/did-method.md, docs/registry-objects.md): it reads objects, and writes those of
// one DID. Numbers, bytes, texts and arrays are the part of deterministic CBOR that it needs.
import { createHash, createPrivateKey, randomBytes, sign } from 'node:crypto'
import { TypedArrayEncoder } from '@credo-ts/core'

const DOMAIN = 'selfsame/transaction/1'
const SCHEMA = 7
const DEFINITION = 8
const REGISTRY = 9
const ENTRY = 10
// The bytes before an Ed25519 seed in PKCS#8 (RFC 8410 section 7).
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function head(kind, number) {
  for (const [code, size] of [[24, 1], [25, 2], [26, 4], [27, 8]]) {
    if (number < 24) break
    if (BigInt(number) >= 1n << BigInt(8 * size)) continue
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64BE(BigInt(number))
    return Buffer.concat([Buffer.from([(kind << 5) | code]), bytes.subarray(8 - size)])
  }
  return Buffer.from([(kind << 5) | Number(number)])
}

function encode(value) {
  if (typeof value === 'number' || typeof value === 'bigint') return head(0, value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') {
    const said = Buffer.from(value)
    return Buffer.concat([head(3, said.length), said])
  }
  return Buffer.concat([head(4, value.length), ...value.map(encode)])
}

function decode(data) {
  let at = 0
  const next = () => {
    const [kind, code] = [data[at] >> 5, data[at] & 31]
    at += 1
    let number = code
    if (code >= 24 && code <= 27) {
      const size = 1 << (code - 24)
      number = Number(`0x${data.subarray(at, at + size).toString('hex')}`)
      at += size
    }
    if (kind === 0) return number
    if (kind === 7) return code === 21
    if (kind === 4) return Array.from({ length: number }, next)
    const bytes = data.subarray(at, at + number)
    at += number
    return kind === 3 ? bytes.toString() : bytes
  }
  return next()
}

const digest = (identifier) =>
  TypedArrayEncoder.toBase58(createHash('sha256').update(identifier).digest().subarray(0, 16))

const keyOf = (name) => {
  const [did, path] = name.split('/anoncreds/v0/')
  return `anoncreds/${did.split(':')[3]}/${path}`
}

/** The registry that Credo asks for names of did:selfsame. */
export class SelfsameRegistry {
  methodName = 'selfsame'
  supportedIdentifier = /^did:selfsame:/

  constructor({ origin, token, did, seed }) {
    Object.assign(this, { origin, token, did })
    this.key = createPrivateKey({ key: Buffer.concat([PKCS8, Buffer.from(seed)]), format: 'der', type: 'pkcs8' })
  }

  async call(path, options) {
    const answer = await fetch(`${this.origin}${path}`, options)
    if (!answer.ok) throw new Error(await answer.text())
    return answer
  }

  async read(key) {
    const coded = Buffer.from(key).toString('base64url')
    const answer = await this.call(`/registry/read?key=${coded}`)
    const found = decode(Buffer.from(await answer.arrayBuffer()))[3]
    return found.length ? decode(found[0]) : undefined
  }

  async published(name) {
    const found = await this.read(keyOf(name))
    if (!found) throw new Error(`${name} is not published`)
    return found
  }

  async write(operation) {
    const [network, identifier] = this.did.split(':').slice(2)
    const author = Buffer.from(TypedArrayEncoder.fromBase58(identifier))
    const nonce = randomBytes(8).readBigUInt64BE() >> 1n
    const body = encode([DOMAIN, network, author, nonce, [operation], [], []])
    const transaction = encode([body, [['key-1', sign(null, body, this.key)]], []])
    const headers = { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/cbor' }
    const answer = await this.call('/registry/transactions', { method: 'POST', headers, body: transaction })
    return answer.json()
  }

  async keepTails(hash, bytes) {
    const form = new FormData()
    form.append('tails', new Blob([bytes]), hash)
    const headers = { Authorization: `Bearer ${this.token}` }
    await this.call(`/tails/hash/${hash}`, { method: 'PUT', headers, body: form })
    return `${this.origin}/tails/hash/${hash}`
  }

  async getSchema(_context, schemaId) {
    const [json] = await this.published(schemaId)
    return { schemaId, schema: JSON.parse(json), resolutionMetadata: {}, schemaMetadata: {} }
  }

  async registerSchema(_context, { schema }) {
    await this.write([SCHEMA, JSON.stringify(schema)])
    const [name, version] = [schema.name, schema.version].map(encodeURIComponent)
    const schemaId = `${this.did}/anoncreds/v0/SCHEMA/${name}/${version}`
    return { schemaState: { state: 'finished', schema, schemaId }, registrationMetadata: {}, schemaMetadata: {} }
  }

  async getCredentialDefinition(_context, credentialDefinitionId) {
    const [[json]] = await this.published(credentialDefinitionId)
    const credentialDefinition = JSON.parse(json)
    return {
      credentialDefinitionId, credentialDefinition, resolutionMetadata: {}, credentialDefinitionMetadata: {},
    }
  }

  async registerCredentialDefinition(_context, { credentialDefinition }) {
    await this.write([DEFINITION, [JSON.stringify(credentialDefinition), [], []]])
    const { schemaId, tag } = credentialDefinition
    const credentialDefinitionId = `${this.did}/anoncreds/v0/CLAIM_DEF/${digest(schemaId)}/${tag}`
    return {
      credentialDefinitionState: { state: 'finished', credentialDefinition, credentialDefinitionId },
      registrationMetadata: {},
      credentialDefinitionMetadata: {},
    }
  }

  async getRevocationRegistryDefinition(_context, revocationRegistryDefinitionId) {
    const [json] = await this.published(revocationRegistryDefinitionId)
    return {
      revocationRegistryDefinitionId,
      revocationRegistryDefinition: JSON.parse(json),
      resolutionMetadata: {},
      revocationRegistryDefinitionMetadata: {},
    }
  }

  async registerRevocationRegistryDefinition(_context, { revocationRegistryDefinition }) {
    await this.write([REGISTRY, JSON.stringify(revocationRegistryDefinition)])
    const { credDefId, tag } = revocationRegistryDefinition
    const revocationRegistryDefinitionId = `${this.did}/anoncreds/v0/REV_REG_DEF/${digest(credDefId)}/${tag}`
    return {
      revocationRegistryDefinitionState: {
        state: 'finished', revocationRegistryDefinition, revocationRegistryDefinitionId,
      },
      registrationMetadata: {},
      revocationRegistryDefinitionMetadata: {},
    }
  }

  /** The list that was in force at a time; undefined before the first one. */
  async list(id, timestamp) {
    const [json, places] = await this.published(id)
    const key = `${keyOf(id)}/entries`
    const [count] = (await this.read(key)) ?? [0]
    const bits = Array(places).fill(0)
    let last
    for (let number = 1; number <= count; number += 1) {
      const [receipt, , after, issued, revoked] = await this.read(`${key}/v/${number}`)
      if (receipt[2] > timestamp) break
      for (const place of issued) bits[place] = 0
      for (const place of revoked) bits[place] = 1
      last = { after, time: receipt[2] }
    }
    return last && {
      issuerId: JSON.parse(json).issuerId,
      revRegDefId: id,
      revocationList: bits,
      currentAccumulator: last.after,
      timestamp: last.time,
    }
  }

  async getRevocationStatusList(_context, id, timestamp) {
    const revocationStatusList = await this.list(id, timestamp)
    return { revocationStatusList, resolutionMetadata: {}, revocationStatusListMetadata: {} }
  }

  async registerRevocationStatusList(_context, { revocationStatusList }) {
    const { revRegDefId, currentAccumulator, revocationList } = revocationStatusList
    const before = await this.list(revRegDefId, Infinity)
    const places = revocationList.map((_, place) => place)
    const was = (place) => before?.revocationList[place] ?? 0
    const issued = places.filter((place) => was(place) && !revocationList[place])
    const revoked = places.filter((place) => !was(place) && revocationList[place])
    const known = before ? [before.currentAccumulator] : []
    const receipt = await this.write([ENTRY, [revRegDefId, known, currentAccumulator, issued, revoked]])
    const made = { ...revocationStatusList, timestamp: receipt.time }
    return {
      revocationStatusListState: { state: 'finished', revocationStatusList: made },
      registrationMetadata: {},
      revocationStatusListMetadata: {},
    }
  }
}
