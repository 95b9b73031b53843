// Encryption of messages with the package jose: the packages of the protocols leave it to who uses them.

import { randomUUID } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, exportJWK, generateKeyPair, importJWK } from 'jose'

const ALG = 'ECDH-ES'

/** The content encryptions, the stronger first. */
export const ENC = ['A256GCM', 'A128GCM']

/** A new key that messages are encrypted to: its public JWK, and what opens them. */
export async function opener() {
  const { publicKey, privateKey } = await generateKeyPair(ALG, { crv: 'P-256' })
  const jwk = { ...(await exportJWK(publicKey)), kid: randomUUID(), use: 'enc', alg: ALG }
  const allowed = { keyManagementAlgorithms: [ALG], contentEncryptionAlgorithms: ENC }
  const open = async (jwe) => {
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, privateKey, allowed)
    if (protectedHeader.kid !== jwk.kid) throw new Error('the message names another key')
    return Buffer.from(plaintext).toString()
  }
  return { jwk, open }
}

/** The text, encrypted to this key. */
export async function seal({ publicJwk, enc, apu, apv }, text) {
  const bytes = (part) => part && Buffer.from(part, 'base64url')
  const jwe = new CompactEncrypt(Buffer.from(text)).setProtectedHeader({ alg: ALG, enc, kid: publicJwk.kid })
  if (apu || apv) jwe.setKeyManagementParameters({ apu: bytes(apu), apv: bytes(apv) })
  return jwe.encrypt(await importJWK(publicJwk, ALG))
}
