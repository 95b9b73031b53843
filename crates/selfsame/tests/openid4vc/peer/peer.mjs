// An issuer, a wallet, a verifier and a holder made of the packages @openid4vc/openid4vci and @openid4vc/openid4vp.
// `node peer.mjs ROLE` takes one JSON object on standard input and says JSON objects, one a line.

import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { clientAuthenticationAnonymous, Oauth2AuthorizationServer, setGlobalConfig } from '@openid4vc/oauth2'
import { Openid4vciClient, Openid4vciIssuer, Openid4vciVersion } from '@openid4vc/openid4vci'
import { Openid4vpClient, Openid4vpVerifier } from '@openid4vc/openid4vp'
import { bindingOf, disclosed, issue, issuerOf, Key, keyOf, present, verified } from './credential.mjs'
import { ENC, opener, seal } from './encryption.mjs'
import { presentation as documentOf, shown, transcript } from './mdoc.mjs'

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code'
const VCT = 'urn:example:membership'
const CLAIMS = { given_name: 'Inés ✓', member: 41 }

// All of it stays on this machine.
setGlobalConfig({ allowInsecureUrls: true })

const say = (object) => process.stdout.write(`${JSON.stringify(object)}\n`)

/** What the packages leave to who uses them, with one key for all that is signed, and one that opens what is encrypted. */
function callbacks(key, own) {
  return {
    hash: (data, algorithm) => createHash(algorithm.replace('-', '')).update(data).digest(),
    generateRandom: (length) => randomBytes(length),
    clientAuthentication: clientAuthenticationAnonymous(),
    signJwt: (_, { header, payload }) => ({ jwt: key.sign(header, payload), signerJwk: key.jwk }),
    verifyJwt: (signer, { compact }) => {
      const jwk = signer.method === 'jwk' ? signer.publicJwk : keyOf(signer.didUrl)
      try {
        verified(compact, jwk)
        return { verified: true, signerJwk: jwk }
      } catch {
        return { verified: false }
      }
    },
    decryptJwe: async (jwe) => ({ decrypted: true, decryptionJwk: own.jwk, payload: await own.open(jwe) }),
    encryptJwe: async (encryptor, text) => ({ encryptionJwk: encryptor.publicJwk, jwe: await seal(encryptor, text) }),
  }
}

/** Serves these routes on loopback: `METHOD /path` to what answers with an object or a text. */
function serve(port, routes) {
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const url = `http://localhost:${port}${request.url}`
    const { pathname } = new URL(url)
    const call = {
      body: Buffer.concat(chunks).toString(),
      like: { method: request.method, url, headers: new Headers(request.headers) },
    }
    const answer = (status, type, text) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
      response.end(text)
    }
    try {
      const route = routes[`${request.method} ${pathname}`]
      if (!route) return answer(404, 'text/plain', 'nothing is here')
      const made = await route(call)
      if (typeof made === 'string') return answer(200, 'application/oauth-authz-req+jwt', made)
      if (made.jwe) return answer(200, 'application/jwt', made.jwe)
      answer(200, 'application/json', JSON.stringify(made))
    } catch (error) {
      answer(400, 'application/json', JSON.stringify(error.errorResponse ?? { error: String(error) }))
    }
  })
  return new Promise((listening) => server.listen(port, '127.0.0.1', () => listening(server)))
}

/** Offers one membership, and issues it to the wallet that redeems the offer; encrypted, if it requires that. */
async function issuer({ port, encrypted }) {
  const key = new Key()
  const encryption = encrypted && (await opener())
  const own = callbacks(key)
  const origin = `http://localhost:${port}`
  const protocol = new Openid4vciIssuer({ callbacks: own })
  const tokens = new Oauth2AuthorizationServer({ callbacks: own })
  const server = tokens.createAuthorizationServerMetadata({
    issuer: origin,
    token_endpoint: `${origin}/token`,
    'pre-authorized_grant_anonymous_access_supported': true,
    grant_types_supported: [PRE_AUTHORIZED],
  })
  const metadata = protocol.createCredentialIssuerMetadata({
    credential_issuer: origin,
    credential_endpoint: `${origin}/credential`,
    nonce_endpoint: `${origin}/nonce`,
    display: [{ name: 'A club' }],
    ...(encrypted && {
      credential_request_encryption: { jwks: { keys: [encryption.jwk] }, enc_values_supported: ENC, encryption_required: true },
      credential_response_encryption: { alg_values_supported: ['ECDH-ES'], enc_values_supported: ENC, encryption_required: true },
    }),
    credential_configurations_supported: {
      membership: {
        format: 'dc+sd-jwt',
        vct: VCT,
        cryptographic_binding_methods_supported: ['jwk'],
        credential_signing_alg_values_supported: ['ES256'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
        credential_metadata: {
          display: [{ name: 'Membership' }],
          claims: [{ path: ['given_name'], display: [{ name: 'Given name' }] }],
        },
      },
    },
  })
  const known = {
    originalDraftVersion: Openid4vciVersion.V1,
    credentialIssuer: metadata,
    authorizationServers: [server],
    knownCredentialConfigurations: protocol.getKnownCredentialConfigurationsSupported(metadata),
  }
  const offer = await protocol.createCredentialOffer({
    issuerMetadata: known,
    credentialConfigurationIds: ['membership'],
    grants: { [PRE_AUTHORIZED]: {} },
  })
  const code = offer.credentialOfferObject.grants[PRE_AUTHORIZED]['pre-authorized_code']
  const nonce = randomBytes(16).toString('base64url')
  const token = randomBytes(16).toString('base64url')
  let redeemed = false
  await serve(port, {
    'GET /.well-known/openid-credential-issuer': () => metadata,
    'GET /.well-known/oauth-authorization-server': () => server,
    'POST /token': async ({ like, body }) => {
      const parsed = tokens.parseAccessTokenRequest({
        request: like,
        accessTokenRequest: Object.fromEntries(new URLSearchParams(body)),
      })
      await tokens.verifyPreAuthorizedCodeAccessTokenRequest({
        ...parsed,
        request: like,
        expectedPreAuthorizedCode: redeemed ? undefined : code,
        authorizationServerMetadata: server,
      })
      redeemed = true
      return { access_token: token, token_type: 'Bearer', expires_in: 300 }
    },
    'POST /nonce': () => protocol.createNonceResponse({ cNonce: nonce }),
    'POST /credential': async ({ like, body }) => {
      if (like.headers.get('authorization') !== `Bearer ${token}`) throw new Error('another access token')
      if (encrypted && like.headers.get('content-type') !== 'application/jwt') throw new Error('it is not encrypted')
      // The packages leave encryption to who uses them.
      const sent = JSON.parse(encrypted ? await encryption.open(body) : body)
      const { credential_response_encryption: wanted, ...credentialRequest } = sent
      const request = protocol.parseCredentialRequest({ issuerMetadata: known, credentialRequest })
      if (request.credentialConfigurationId !== 'membership') throw new Error('another configuration')
      const credentials = []
      for (const jwt of request.proofs.jwt) {
        const proof = await protocol.verifyCredentialRequestJwtProof({
          issuerMetadata: known,
          jwt,
          expectedNonce: nonce,
        })
        const holder = proof.signer.publicJwk
        credentials.push({ credential: issue(key, { vct: VCT, claims: CLAIMS, holder }) })
      }
      const response = protocol.createCredentialResponse({ credentialRequest: request, credentials })
      if (!encrypted) return response
      return { jwe: await seal({ publicJwk: wanted.jwk, enc: wanted.enc }, JSON.stringify(response.credentialResponse ?? response)) }
    },
  })
  say({ offer: offer.credentialOffer, issuer: key.jwk, other: new Key().jwk })
}

/** Posts a credential request as the packages cannot yet: encrypted, and for a response that is encrypted. */
async function requestEncrypted({ issuerMetadata, accessToken, request }) {
  const { credential_endpoint: url, credential_request_encryption: theirs } = issuerMetadata.credentialIssuer
  const own = await opener()
  const [publicJwk] = theirs.jwks.keys
  const [enc] = theirs.enc_values_supported
  const asking = { ...request, credential_response_encryption: { jwk: own.jwk, enc } }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/jwt', authorization: `Bearer ${accessToken}` },
    body: await seal({ publicJwk, enc }, JSON.stringify(asking)),
  })
  const text = await response.text()
  if (response.headers.get('content-type') !== 'application/jwt') throw new Error(`not encrypted: ${text}`)
  return JSON.parse(await own.open(text))
}

/** Looks for credentials that take their time, each time it is told to, and says what it hears; the answer with them. */
async function lookedFor({ client, issuerMetadata, accessToken, deferred }) {
  const transactionId = deferred.transaction_id
  say({ waits: deferred })
  for (;;) {
    if ((await lines.next()).done) throw new Error('nobody says when to look')
    const looked = await client.retrieveDeferredCredentials({ issuerMetadata, accessToken, transactionId })
    const answer = looked.deferredCredentialResponse
    if (answer.credentials) return answer
    say({ waits: answer })
  }
}

/** Takes an offer; the holder's key goes with the credential, for who presents it next. */
async function wallet({ offer, encrypted }) {
  const key = new Key()
  const client = new Openid4vciClient({ callbacks: callbacks(key) })
  const credentialOffer = await client.resolveCredentialOffer(offer)
  const issuerMetadata = await client.resolveIssuerMetadata(credentialOffer.credential_issuer)
  const { accessTokenResponse } = await client.retrievePreAuthorizedCodeAccessTokenFromOffer({
    credentialOffer,
    issuerMetadata,
  })
  const [credentialConfigurationId] = credentialOffer.credential_configuration_ids
  const { c_nonce: nonce } = await client.requestNonce({ issuerMetadata })
  const { jwt } = await client.createCredentialRequestJwtProof({
    issuerMetadata,
    credentialConfigurationId,
    nonce,
    issuedAt: new Date(),
    signer: { method: 'jwk', alg: 'ES256', publicJwk: key.jwk },
  })
  const accessToken = accessTokenResponse.access_token
  const proofs = { jwt: [jwt] }
  const request = { credential_configuration_id: credentialConfigurationId, proofs }
  const given = encrypted
    ? await requestEncrypted({ issuerMetadata, accessToken, request })
    : (await client.retrieveCredentials({ issuerMetadata, credentialConfigurationId, accessToken, proofs })).credentialResponse
  const credentialResponse = given.credentials
    ? given
    : await lookedFor({ client, issuerMetadata, accessToken, deferred: given })
  const [{ credential }] = credentialResponse.credentials
  return { key, said: { version: issuerMetadata.originalDraftVersion, credential, issuer: credential.includes('~') ? issuerOf(credential) : undefined } }
}

/** The query for elements of a document. */
function asked({ doctype, namespace }, names) {
  const claims = names.map((name) => ({ path: [namespace, name], intent_to_retain: false }))
  return { id: 'document', format: 'mso_mdoc', meta: { doctype_value: doctype }, claims }
}

/** Asks for a membership of that issuer, by a request as this names it, and says what it was shown. */
async function verifier({ port, issuer: issuerKey, signed, by_value: byValue, names, encrypted, transaction, mdoc }) {
  const key = new Key()
  const encryption = encrypted && (await opener())
  const protocol = new Openid4vpVerifier({ callbacks: callbacks(key, encryption) })
  const transactionData = transaction && [Buffer.from(JSON.stringify(transaction)).toString('base64url')]
  const origin = `http://localhost:${port}`
  const nonce = randomBytes(16).toString('base64url')
  const audience = signed ? `decentralized_identifier:${key.did}` : `redirect_uri:${origin}/answer`
  const { authorizationRequest, authorizationRequestPayload, jar } = await protocol.createOpenId4vpAuthorizationRequest({
    authorizationRequestPayload: {
      response_type: 'vp_token',
      response_mode: encrypted ? 'direct_post.jwt' : 'direct_post',
      transaction_data: transactionData,
      client_id: audience,
      response_uri: `${origin}/answer`,
      nonce,
      state: randomBytes(8).toString('base64url'),
      client_metadata: {
        vp_formats_supported: {
          'dc+sd-jwt': { 'sd-jwt_alg_values': ['ES256'], 'kb-jwt_alg_values': ['ES256'] },
          mso_mdoc: { issuerauth_alg_values: [-7], deviceauth_alg_values: [-7] },
        },
        ...(encrypted && { jwks: { keys: [encryption.jwk] }, encrypted_response_enc_values_supported: ENC }),
      },
      dcql_query: {
        credentials: mdoc ? [asked(mdoc, names)] : [
          { id: 'membership', format: 'dc+sd-jwt', meta: { vct_values: [VCT] }, claims: names.map((name) => ({ path: [name] })) },
        ],
      },
    },
    jar: signed && {
      requestUri: byValue ? undefined : `${origin}/request`,
      expiresInSeconds: 300,
      jwtSigner: { method: 'did', alg: 'ES256', didUrl: `${key.did}#0` },
      additionalJwtPayload: { iss: key.did },
    },
  })
  await serve(port, {
    'GET /request': () => jar.authorizationRequestJwt,
    'POST /answer': async ({ body }) => {
      const answer = await protocol.parseOpenid4vpAuthorizationResponse({
        authorizationResponse: Object.fromEntries(new URLSearchParams(body)),
        authorizationRequestPayload,
        callbacks: callbacks(key, encryption),
      })
      if (encrypted && new URLSearchParams(body).has('vp_token')) throw new Error('it is not encrypted')
      if (mdoc) {
        const responseUri = `${origin}/answer`
        const session = transcript({ clientId: audience, nonce, jwk: encryption?.jwk, responseUri })
        const [presentation] = answer.dcql.presentations.document
        say({ elements: await shown(presentation, { ...mdoc, session }) })
        return {}
      }
      const [presentation] = answer.dcql.presentations.membership
      if (transaction) {
        const credentials = { membership: [bindingOf(presentation)] }
        await protocol.verifyTransactionData({ transactionData, credentials })
      }
      say({ claims: disclosed(presentation, { issuer: issuerKey, audience, nonce: answer.expectedNonce }) })
      return {}
    },
  })
  say({ request: authorizationRequest })
}

/** The elements of the document that a query names, for this request. */
function answerOf(query, { said, key, payload }) {
  const encrypted = payload.response_mode === 'direct_post.jwt'
  return documentOf(said.credential, {
    doctype: query.meta.doctype_value,
    namespace: query.claims[0].path[0],
    names: query.claims.map(({ path }) => path[1]),
    holder: key,
    session: transcript({
      clientId: payload.client_id,
      nonce: payload.nonce,
      jwk: encrypted ? payload.client_metadata.jwks.keys[0] : undefined,
      responseUri: payload.response_uri,
    }),
  })
}

/** Accepts an offer, then answers each request with the claims that its query names. */
async function holder({ offer, encrypted }) {
  const { key, said } = await wallet({ offer, encrypted })
  say(said)
  const client = new Openid4vpClient({ callbacks: callbacks(key) })
  for await (const line of lines) {
    const { request } = JSON.parse(line)
    const { params } = client.parseOpenid4vpAuthorizationRequest({ authorizationRequest: request })
    const resolved = await client.resolveOpenId4vpAuthorizationRequest({ authorizationRequestPayload: params })
    const { authorizationRequestPayload } = resolved
    const [query] = resolved.dcql.query.credentials
    const mode = authorizationRequestPayload.response_mode
    const presentation = query.format === 'mso_mdoc'
      ? await answerOf(query, { said, key, payload: authorizationRequestPayload })
      : present(said.credential, {
        names: query.claims.flatMap(({ path }) => path),
        holder: key,
        audience: authorizationRequestPayload.client_id,
        nonce: authorizationRequestPayload.nonce,
        transactions: authorizationRequestPayload.transaction_data,
      })
    const serverMetadata = {
      authorization_signing_alg_values_supported: [],
      authorization_encryption_alg_values_supported: ['ECDH-ES'],
      authorization_encryption_enc_values_supported: ENC,
    }
    const { authorizationResponsePayload, jarm } = await client.createOpenid4vpAuthorizationResponse({
      authorizationRequestPayload,
      authorizationResponsePayload: { vp_token: { [query.id]: [presentation] } },
      jarm: mode === 'direct_post.jwt' ? { serverMetadata, encryption: { nonce: 'of the wallet' } } : undefined,
    })
    const { response } = await client.submitOpenid4vpAuthorizationResponse({
      authorizationRequestPayload,
      authorizationResponsePayload,
      jarm,
    })
    say({ prefix: resolved.client.prefix, status: response.status, mode })
  }
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const job = JSON.parse((await lines.next()).value)
try {
  await { issuer, holder, verifier }[process.argv[2]](job)
} catch (error) {
  say({ failed: String(error), detail: error.response ?? error.cause?.message })
  process.exit(1)
}
// The input has ended: the program that started this one has gone.
while (!(await lines.next()).done);
process.exit(0)
