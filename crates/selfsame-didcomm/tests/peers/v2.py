"""Packs and unpacks messages of DIDComm v2 with the Python package didcomm.

Reads a job from standard input: {"documents": [DID documents], "secrets": [private JWKs, each with its "kid"]} and either
{"do": "pack", "message": a message, "to": DID, "from": DID, key or null, "sign": DID or null, "hides": bool, "anon":
"XC20P", "A256GCM" or "A256CBC-HS512"} or {"do": "unpack", "envelope": text}. Prints a JSON object.
"""

import asyncio
import json
import sys
from types import ModuleType

# It reads keys in multibase with it; the keys here are JWKs. There is no wheel of it.
sys.modules["varint"] = ModuleType("varint")

from didcomm.common.algorithms import AnonCryptAlg
from didcomm.common.resolvers import ResolversConfig
from didcomm.did_doc.did_doc import DIDDoc
from didcomm.did_doc.did_resolver import DIDResolver
from didcomm.message import Message
from didcomm.pack_encrypted import PackEncryptedConfig, pack_encrypted
from didcomm.pack_signed import pack_signed
from didcomm.secrets.secrets_resolver import SecretsResolver
from didcomm.secrets.secrets_util import jwk_to_secret
from didcomm.unpack import UnpackConfig, unpack

ANONYMOUS = {
    "XC20P": AnonCryptAlg.XC20P_ECDH_ES_A256KW,
    "A256GCM": AnonCryptAlg.A256GCM_ECDH_ES_A256KW,
    "A256CBC-HS512": AnonCryptAlg.A256CBC_HS512_ECDH_ES_A256KW,
}


class Documents(DIDResolver):
    def __init__(self, documents):
        self.documents = {one["id"]: DIDDoc.deserialize(one) for one in documents}

    async def resolve(self, did):
        return self.documents.get(str(did))


class Secrets(SecretsResolver):
    def __init__(self, secrets):
        self.secrets = {one["kid"]: jwk_to_secret(one) for one in secrets}

    async def get_key(self, kid):
        return self.secrets.get(str(kid))

    async def get_keys(self, kids):
        return [kid for kid in kids if str(kid) in self.secrets]


async def main():
    job = json.load(sys.stdin)
    config = ResolversConfig(
        secrets_resolver=Secrets(job["secrets"]),
        did_resolver=Documents(job["documents"]),
    )
    if job["do"] == "pack":
        message = Message.from_json(json.dumps(job["message"]))
        if job["to"] is None:
            packed = await pack_signed(config, message=message, sign_frm=job["sign"])
            return {"envelope": packed.packed_msg}
        packing = PackEncryptedConfig(
            forward=False,
            protect_sender_id=job["hides"],
            enc_alg_anon=ANONYMOUS[job["anon"]],
        )
        packed = await pack_encrypted(
            config,
            message=message,
            to=job["to"],
            frm=job["from"],
            sign_frm=job["sign"],
            pack_config=packing,
        )
        return {"envelope": packed.packed_msg}
    try:
        opened = await unpack(
            config,
            packed_msg=job["envelope"],
            unpack_config=UnpackConfig(expect_decrypt_by_all_keys=False),
        )
    except Exception as error:  # noqa: BLE001
        return {"refused": type(error).__name__}
    said = opened.metadata
    return {
        "message": json.loads(json.dumps(opened.message.as_dict())),
        "sender": said.encrypted_from and str(said.encrypted_from),
        "signer": said.sign_from and str(said.sign_from),
        "anonymous": bool(said.anonymous_sender),
    }


print(json.dumps(asyncio.run(main())))
