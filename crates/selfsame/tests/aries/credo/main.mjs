// An agent of Credo behind a part of ACA-Py's admin API, so that one test drives either.
import { createServer } from 'node:http'
import {
  AutoAcceptCredential, BasicMessageEventTypes, BasicMessageRole, HandshakeProtocol, JsonTransformer, OutOfBandInvitation,
  TrustPingEventTypes,
} from '@credo-ts/core'
import { start } from './agent.mjs'
import { SelfsameRegistry } from './registry.mjs'

const { ORIGIN, TOKEN, DID, SEED, ADMIN, INBOUND, FOLDER, HOOK } = process.env
const registry = new SelfsameRegistry({ origin: ORIGIN, token: TOKEN, did: DID, seed: SEED })
const agent = await start(registry, Number(INBOUND), FOLDER)
const revocable = new Map()
const issued = new Map()

/** Tells the controller. */
const hook = (topic, said) =>
  fetch(`${HOOK}topic/${topic}/`, { method: 'POST', body: JSON.stringify(said) }).catch(console.error)

agent.events.on(BasicMessageEventTypes.BasicMessageStateChanged, ({ payload: { basicMessageRecord: message } }) => {
  if (message.role === BasicMessageRole.Receiver) hook('basicmessages', { content: message.content })
})
agent.events.on(TrustPingEventTypes.TrustPingReceivedEvent, ({ payload: { message } }) =>
  hook('ping', { thread_id: message.threadId, state: 'received' }))
agent.events.on(TrustPingEventTypes.TrustPingResponseReceivedEvent, ({ payload: { message } }) =>
  hook('ping', { thread_id: message.threadId, state: 'response_received' }))
agent.events.on('RevocationNotificationReceived', () => hook('revocation-notification-v2', {}))

/** The connection of an identifier, which is that of an invitation of connections 1.0 until somebody has answered. */
async function connection(id) {
  const known = await agent.connections.findById(id)
  return known ?? (await agent.connections.findAllByOutOfBandId(id))[0]
}

const connectionView = (record) => ({
  connection_id: record.id,
  rfc23_state: record.state,
  state: record.state,
  my_did: record.did,
  their_did: record.theirDid,
})

const credentialView = (record) => ({
  cred_ex_record: {
    cred_ex_id: record.id,
    thread_id: record.threadId,
    connection_id: record.connectionId,
    state: record.revocationNotification ? 'credential-revoked' : record.state,
  },
})

// A proof that is not valid ends the exchange here, before anybody asks whether it is.
const proofView = (record) => ({
  pres_ex_id: record.id,
  thread_id: record.threadId,
  connection_id: record.connectionId,
  state: record.isVerified === false ? 'presentation-received' : record.state,
  verified: record.isVerified === undefined ? undefined : String(record.isVerified),
})

const invited = (record) => ({
  invitation: record.outOfBandInvitation.toJSON(),
  invi_msg_id: record.outOfBandInvitation.id,
  oob_id: record.id,
})

const finished = ({ state, reason }) => {
  if (state !== 'finished') throw new Error(reason ?? state)
}

async function publishDefinition({ credential_definition: asked, options }) {
  const { issuerId, schemaId, tag } = asked
  const supportRevocation = options.support_revocation
  const made = await agent.modules.anoncreds.registerCredentialDefinition({
    credentialDefinition: { issuerId, schemaId, tag }, options: { supportRevocation },
  })
  const state = made.credentialDefinitionState
  finished(state)
  const id = state.credentialDefinitionId
  if (supportRevocation) await publishRegistry(issuerId, id, options.revocation_registry_size)
  return { credential_definition_state: { state: 'finished', credential_definition_id: id } }
}

async function publishRegistry(issuerId, credentialDefinitionId, maximumCredentialNumber) {
  const made = await agent.modules.anoncreds.registerRevocationRegistryDefinition({
    revocationRegistryDefinition: { issuerId, tag: '0', credentialDefinitionId, maximumCredentialNumber }, options: {},
  })
  const state = made.revocationRegistryDefinitionState
  finished(state)
  const id = state.revocationRegistryDefinitionId
  const listed = await agent.modules.anoncreds.registerRevocationStatusList({
    revocationStatusList: { issuerId, revocationRegistryDefinitionId: id }, options: {},
  })
  finished(listed.revocationStatusListState)
  revocable.set(credentialDefinitionId, { id, next: 1 })
}

async function offer({ connection_id, credential_preview, filter, comment }) {
  const credentialDefinitionId = filter.anoncreds.cred_def_id
  const places = revocable.get(credentialDefinitionId)
  const place = places && { registry: places.id, index: places.next++ }
  const revocation = place && {
    revocationRegistryDefinitionId: place.registry, revocationRegistryIndex: place.index,
  }
  const attributes = credential_preview.attributes
  const record = await agent.credentials.offerCredential({
    connectionId: (await connection(connection_id)).id,
    protocolVersion: 'v2',
    comment,
    autoAcceptCredential: AutoAcceptCredential.Always,
    credentialFormats: { anoncreds: { credentialDefinitionId, attributes, ...revocation } },
  })
  if (place) issued.set(record.id, place)
  return { ...credentialView(record).cred_ex_record }
}

async function revoke({ cred_ex_id, notify }) {
  const { registry: id, index } = issued.get(cred_ex_id)
  const listed = await agent.modules.anoncreds.updateRevocationStatusList({
    revocationStatusList: { revocationRegistryDefinitionId: id, revokedCredentialIndexes: [index] }, options: {},
  })
  finished(listed.revocationStatusListState)
  if (notify) {
    await agent.credentials.sendRevocationNotification({
      credentialRecordId: cred_ex_id, revocationFormat: 'anoncreds', revocationId: `${id}::${index}`,
    })
  }
  return {}
}

async function credentialsFor(proofRecordId) {
  const { proofFormats } = await agent.proofs.getCredentialsForRequest({
    proofRecordId, proofFormats: { anoncreds: { filterByNonRevocationRequirements: false } },
  })
  const [matches] = Object.values(proofFormats.anoncreds.attributes)
  return matches.map((match) => ({ cred_info: { referent: match.credentialId } }))
}

async function present(proofRecordId) {
  const { proofFormats } = await agent.proofs.selectCredentialsForRequest({
    proofRecordId, proofFormats: { anoncreds: { filterByNonRevocationRequirements: false } },
  })
  return proofView(await agent.proofs.acceptRequest({ proofRecordId, proofFormats }))
}

async function verify(proofRecordId) {
  const record = await agent.proofs.getById(proofRecordId)
  if (record.isVerified) await agent.proofs.acceptPresentation({ proofRecordId })
  return proofView(record)
}

async function invite({ handshake_protocols }) {
  const handshakeProtocols = handshake_protocols.map(() => HandshakeProtocol.DidExchange)
  return invited(await agent.oob.createInvitation({ handshakeProtocols, autoAcceptConnection: true }))
}

async function accept(invitation) {
  const taken = JsonTransformer.fromJSON(invitation, OutOfBandInvitation)
  const { connectionRecord } = await agent.oob.receiveInvitation(taken)
  return connectionView(connectionRecord)
}

async function inviteByConnections() {
  const { outOfBandRecord, invitation } = await agent.oob.createLegacyInvitation({ autoAcceptConnection: true })
  return { connection_id: outOfBandRecord.id, invitation: invitation.toJSON() }
}

async function acceptByConnections(invitation) {
  const coded = Buffer.from(JSON.stringify(invitation)).toString('base64url')
  const { connectionRecord } = await agent.oob.receiveInvitationFromUrl(`http://127.0.0.1/?c_i=${coded}`)
  return connectionView(connectionRecord)
}

async function connections(query) {
  const found = await agent.oob.findByCreatedInvitationId(query.get('invitation_msg_id'))
  const records = found ? await agent.connections.findAllByOutOfBandId(found.id) : []
  return { results: records.map(connectionView) }
}

async function ping(id) {
  const message = await agent.connections.sendPing((await connection(id)).id, { responseRequested: true })
  return { thread_id: message.threadId }
}

async function requestProof({ connection_id, presentation_request, comment }) {
  const { nonce, ...anoncreds } = presentation_request.anoncreds
  const connectionId = (await connection(connection_id)).id
  return proofView(await agent.proofs.requestProof({
    connectionId, protocolVersion: 'v2', comment, proofFormats: { anoncreds },
  }))
}

const of = (records, query) => records.filter((one) => one.connectionId === query.get('connection_id'))
const CREDENTIALS = '/issue-credential-2.0'
const PROOFS = '/present-proof-2.0'

/** Each operation: its method and address, and what it does with the identifier in it, the body and the query. */
const OPERATIONS = [
  ['POST', /^\/out-of-band\/create-invitation$/, (_, body) => invite(body)],
  ['POST', /^\/out-of-band\/receive-invitation$/, (_, body) => accept(body)],
  ['POST', /^\/connections\/create-invitation$/, () => inviteByConnections()],
  ['POST', /^\/connections\/receive-invitation$/, (_, body) => acceptByConnections(body)],
  ['POST', /^\/connections\/([^/]+)\/accept-invitation$/, async (id) => connectionView(await connection(id))],
  ['GET', /^\/connections$/, (_, __, query) => connections(query)],
  ['GET', /^\/connections\/([^/]+)$/, async (id) => connectionView(await connection(id))],
  ['POST', /^\/connections\/([^/]+)\/send-ping$/, ping],
  ['POST', /^\/connections\/([^/]+)\/send-message$/, async (id, { content }) => {
    await agent.basicMessages.sendMessage((await connection(id)).id, content)
    return {}
  }],
  ['POST', /^\/did-rotate\/([^/]+)\/rotate$/, async (id, { to_did }) =>
    agent.connections.rotate({ connectionId: (await connection(id)).id, toDid: to_did })],
  ['POST', /^\/anoncreds\/schema$/, async (_, { schema }) => {
    const { schemaState } = await agent.modules.anoncreds.registerSchema({ schema, options: {} })
    finished(schemaState)
    return { schema_state: { state: 'finished', schema_id: schemaState.schemaId } }
  }],
  ['POST', /^\/anoncreds\/credential-definition$/, (_, body) => publishDefinition(body)],
  ['GET', /^\/anoncreds\/revocation\/active-registry\/.+$/, () => ({})],
  ['POST', /^\/anoncreds\/revocation\/revoke$/, (_, body) => revoke(body)],
  ['POST', new RegExp(`^${CREDENTIALS}/send$`), (_, body) => offer(body)],
  ['GET', new RegExp(`^${CREDENTIALS}/records$`), async (_, __, query) => ({
    results: of(await agent.credentials.getAll(), query).map(credentialView),
  })],
  ['GET', new RegExp(`^${CREDENTIALS}/records/([^/]+)$`), async (id) =>
    credentialView(await agent.credentials.getById(id))],
  ['POST', new RegExp(`^${CREDENTIALS}/records/([^/]+)/send-request$`), async (credentialRecordId) =>
    credentialView(await agent.credentials.acceptOffer({ credentialRecordId }))],
  ['POST', new RegExp(`^${CREDENTIALS}/records/([^/]+)/store$`), async (credentialRecordId) =>
    credentialView(await agent.credentials.acceptCredential({ credentialRecordId }))],
  ['POST', new RegExp(`^${PROOFS}/send-request$`), (_, body) => requestProof(body)],
  ['GET', new RegExp(`^${PROOFS}/records$`), async (_, __, query) => ({
    results: of(await agent.proofs.getAll(), query).map(proofView),
  })],
  ['GET', new RegExp(`^${PROOFS}/records/([^/]+)$`), async (id) => proofView(await agent.proofs.getById(id))],
  ['GET', new RegExp(`^${PROOFS}/records/([^/]+)/credentials$`), credentialsFor],
  ['POST', new RegExp(`^${PROOFS}/records/([^/]+)/send-presentation$`), present],
  ['POST', new RegExp(`^${PROOFS}/records/([^/]+)/verify-presentation$`), verify],
  ['GET', /^\/status\/ready$/, () => ({ ready: true })],
]

async function answer(method, url, body) {
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
  for (const [verb, address, act] of OPERATIONS) {
    const named = verb === method && address.exec(pathname)
    if (named) return act(named[1], body ? JSON.parse(body) : {}, searchParams)
  }
  throw new Error(`no operation ${method} ${pathname}`)
}

createServer(async (request, response) => {
  let body = ''
  for await (const part of request) body += part
  try {
    const said = JSON.stringify(await answer(request.method, request.url, body))
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(said)
  } catch (error) {
    console.error(error)
    response.writeHead(400).end(`400: ${error.message}`)
  }
}).listen(Number(ADMIN), '127.0.0.1')
