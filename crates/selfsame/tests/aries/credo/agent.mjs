// An agent of Credo, with the libraries that aries-askar and anoncreds of PyPI ship.
import { readFile } from 'node:fs/promises'
import {
  Agent, AutoAcceptCredential, AutoAcceptProof, ConnectionsModule, ConsoleLogger, CredentialsModule, HttpOutboundTransport,
  LogLevel, PeerDidNumAlgo, ProofsModule, V2CredentialProtocol, V2ProofProtocol,
} from '@credo-ts/core'
import { agentDependencies, HttpInboundTransport } from '@credo-ts/node'
import { AskarModule } from '@credo-ts/askar'
import {
  AnonCredsCredentialFormatService, AnonCredsModule, AnonCredsProofFormatService, BasicTailsFileService,
} from '@credo-ts/anoncreds'
import { askar } from '@openwallet-foundation/askar-nodejs'
import { anoncreds } from '@hyperledger/anoncreds-nodejs'

/** Keeps tails files at ours. */
class Tails extends BasicTailsFileService {
  constructor(registry, folder) {
    super({ tailsDirectoryPath: folder })
    this.registry = registry
  }

  async uploadTailsFile(_context, { revocationRegistryDefinition }) {
    const { tailsLocation, tailsHash } = revocationRegistryDefinition.value
    return { tailsFileUrl: await this.registry.keepTails(tailsHash, await readFile(tailsLocation)) }
  }
}

/** A started agent, which takes messages at this port. */
export async function start(registry, port, folder) {
  const formats = [new AnonCredsCredentialFormatService()]
  const proofs = [new AnonCredsProofFormatService()]
  const agent = new Agent({
    config: {
      label: 'credo',
      endpoints: [`http://127.0.0.1:${port}`],
      walletConfig: { id: 'credo', key: 'credo', storage: { type: 'sqlite', path: `${folder}/wallet.db` } },
      logger: new ConsoleLogger(LogLevel.info),
    },
    dependencies: agentDependencies,
    modules: {
      askar: new AskarModule({ ariesAskar: askar }),
      anoncreds: new AnonCredsModule({
        anoncreds, registries: [registry], tailsFileService: new Tails(registry, `${folder}/tails`),
      }),
      connections: new ConnectionsModule({
        autoAcceptConnections: true,
        peerNumAlgoForDidExchangeRequests: PeerDidNumAlgo.MultipleInceptionKeyWithoutDoc,
      }),
      credentials: new CredentialsModule({
        autoAcceptCredentials: AutoAcceptCredential.Never,
        credentialProtocols: [new V2CredentialProtocol({ credentialFormats: formats })],
      }),
      proofs: new ProofsModule({
        autoAcceptProofs: AutoAcceptProof.Never,
        proofProtocols: [new V2ProofProtocol({ proofFormats: proofs })],
      }),
    },
  })
  agent.registerOutboundTransport(new HttpOutboundTransport())
  agent.registerInboundTransport(new HttpInboundTransport({ port }))
  await agent.initialize()
  return agent
}
