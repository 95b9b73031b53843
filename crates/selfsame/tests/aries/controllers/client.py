"""The calls of the healthcare study by acapy-client, which was generated from ACA-Py's OpenAPI document: each answer has
to be what its models say. Prints what the verifier found."""

import os
import time

from acapy_client import Client
from acapy_client.api.connection import create_invitation, receive_invitation
from acapy_client.api.connection import post_connections_conn_id_accept_invitation as accept_invitation
from acapy_client.api.credential_definition import publish_cred_def
from acapy_client.api.issue_credential_v2_0 import get_records as get_issuances
from acapy_client.api.issue_credential_v2_0 import issue_credential_automated, store_credential
from acapy_client.api.present_proof_v2_0 import (
    get_matching_credentials,
    get_records,
    send_presentation,
    send_request_free,
    verify_presentation,
)
from acapy_client.api.schema import publish_schema
from acapy_client.api.server import get_status_ready
from acapy_client.models import (
    CreateInvitationRequest,
    CredentialDefinitionSendRequest,
    ReceiveInvitationRequest,
    SchemaSendRequest,
    V20CredExFree,
    V20CredStoreRequest,
    V20PresSendRequestRequest,
    V20PresSpecByFormatRequest,
)

PATIENCE = 60.0
SAID = {"vaccine": "SARS-CoV2 - COVID 19", "date": "20211205", "manufacturer": "Pfizer"}


def agent(name: str) -> Client:
    return Client(os.environ[name], timeout=PATIENCE)


def connected(inviter: Client, invitee: Client):
    """The identifiers of a new connection at both sides."""
    made = create_invitation.sync(
        client=inviter, json_body=CreateInvitationRequest(), alias="Pacientes", auto_accept=True
    )
    invitation = ReceiveInvitationRequest.from_dict(made.invitation.to_dict())
    taken = receive_invitation.sync(client=invitee, json_body=invitation)
    accepted = accept_invitation.sync(taken.connection_id, client=invitee)
    assert accepted.connection_id == taken.connection_id
    return made.connection_id, taken.connection_id


def awaited(found):
    """What a function finds, once it does."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        if (one := found()) is not None:
            return one
        time.sleep(0.05)
    raise TimeoutError


def issued(doctor: Client, patient: Client):
    """The schema of a credential that the patient has stored."""
    body = SchemaSendRequest(
        attributes=list(SAID), schema_name="vaccination", schema_version="1.0"
    )
    schema = publish_schema.sync(client=doctor, json_body=body).schema_id
    body = CredentialDefinitionSendRequest(schema_id=schema, tag="client", support_revocation=False)
    made = publish_cred_def.sync(client=doctor, json_body=body)
    doctors, patients = connected(doctor, patient)
    attributes = [{"name": name, "value": value} for name, value in SAID.items()]
    offer = {
        "connection_id": doctors,
        "credential_preview": {
            "@type": "issue-credential/2.0/credential-preview",
            "attributes": attributes,
        },
        "filter": {"indy": {"cred_def_id": made.credential_definition_id, "schema_id": schema}},
    }
    sent = issue_credential_automated.sync(client=doctor, json_body=V20CredExFree.from_dict(offer))

    def received():
        listed = get_issuances.sync(client=patient, connection_id=patients)
        for one in listed.results:
            record = one.cred_ex_record
            if record.thread_id == sent.thread_id and record.state == "credential-received":
                return record.cred_ex_id

    stored = store_credential.sync(
        awaited(received), client=patient, json_body=V20CredStoreRequest()
    )
    assert stored.cred_ex_record.state == "done"
    return schema


def verified(pharmacy: Client, patient: Client, schema: str):
    """What the pharmacy finds in a proof."""
    pharmacies, patients = connected(pharmacy, patient)
    restrictions = [{"schema_id": schema}]
    asked = {
        "connection_id": pharmacies,
        "presentation_request": {"indy": {
            "name": "vaccination",
            "nonce": "1",
            "version": "1.0",
            "requested_attributes": {"attr1": {"name": "vaccine", "restrictions": restrictions}},
            "requested_predicates": {"pred1": {
                "name": "date", "p_type": ">=", "p_value": 20210901, "restrictions": restrictions,
            }},
        }},
    }
    body = V20PresSendRequestRequest.from_dict(asked)
    sent = send_request_free.sync(client=pharmacy, json_body=body)

    def requested():
        for one in get_records.sync(client=patient, connection_id=patients).results:
            if one.thread_id == sent.thread_id:
                return one.pres_ex_id

    exchange = awaited(requested)
    fit = get_matching_credentials.sync(exchange, client=patient, count="5")
    credential = fit[0].cred_info.referent
    shown = {"indy": {
        "requested_attributes": {"attr1": {"cred_id": credential, "revealed": True}},
        "requested_predicates": {"pred1": {"cred_id": credential}},
        "self_attested_attributes": {},
    }}
    body = V20PresSpecByFormatRequest.from_dict(shown)
    send_presentation.sync(exchange, client=patient, json_body=body)

    def presented():
        for one in get_records.sync(client=pharmacy).results:
            if one.pres_ex_id == sent.pres_ex_id and one.state == "presentation-received":
                return one.pres_ex_id

    return verify_presentation.sync(awaited(presented), client=pharmacy).verified


doctor, patient, pharmacy = map(agent, ["DOCTOR", "PATIENT", "PHARMACY"])
assert get_status_ready.sync(client=doctor).ready
print(verified(pharmacy, patient, issued(doctor, patient)))
