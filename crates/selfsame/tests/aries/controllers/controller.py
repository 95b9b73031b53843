"""A doctor, a patient and a pharmacy, each driven by acapy-controller: its steps wait for the events of /ws. Prints what
the verifier found."""

import asyncio
import os

from acapy_controller import Controller
from acapy_controller.protocols import (
    didexchange,
    indy_anoncred_credential_artifacts,
    indy_issue_credential_v2,
    trustping,
)

SAID = {"vaccine": "SARS-CoV2 - COVID 19", "date": "20211205", "manufacturer": "Pfizer"}


async def verified(pharmacy, pharmacies, patient, patients, schema):
    """What the pharmacy finds in a proof. Its events have no messages, as those of ACA-Py without --debug-webhooks."""
    restrictions = [{"schema_id": schema}]
    asked = await pharmacy.post(
        "/present-proof-2.0/send-request",
        json={
            "connection_id": pharmacies.connection_id,
            "presentation_request": {"indy": {
                "name": "vaccination",
                "version": "1.0",
                "requested_attributes": {
                    "attr1": {"name": "vaccine", "restrictions": restrictions}
                },
                "requested_predicates": {"pred1": {
                    "name": "date", "p_type": ">=", "p_value": 20210901, "restrictions": restrictions,
                }},
                "non_revoked": None,
            }},
        },
    )
    received = await patient.event_with_values(
        topic="present_proof_v2_0", connection_id=patients.connection_id, state="request-received"
    )
    record = f"/present-proof-2.0/records/{received['pres_ex_id']}"
    fit = await patient.get(f"{record}/credentials")
    credential = fit[0]["cred_info"]["referent"]
    shown = {
        "requested_attributes": {"attr1": {"cred_id": credential, "revealed": True}},
        "requested_predicates": {"pred1": {"cred_id": credential}},
        "self_attested_attributes": {},
    }
    await patient.post(f"{record}/send-presentation", json={"indy": shown})
    exchange = asked["pres_ex_id"]
    await pharmacy.event_with_values(
        topic="present_proof_v2_0", pres_ex_id=exchange, state="presentation-received"
    )
    await pharmacy.post(f"/present-proof-2.0/records/{exchange}/verify-presentation")
    done = await pharmacy.event_with_values(
        topic="present_proof_v2_0", pres_ex_id=exchange, state="done"
    )
    return done["verified"]


async def main():
    doctor, patient, pharmacy = (
        Controller(os.environ[name]) for name in ("DOCTOR", "PATIENT", "PHARMACY")
    )
    async with doctor, patient, pharmacy:
        doctors, patients = await didexchange(doctor, patient)
        await trustping(patient, patients)
        schema, definition = await indy_anoncred_credential_artifacts(doctor, list(SAID))
        await indy_issue_credential_v2(
            doctor,
            patient,
            doctors.connection_id,
            patients.connection_id,
            definition.credential_definition_id,
            SAID,
        )
        pharmacies, patients = await didexchange(pharmacy, patient)
        print(await verified(pharmacy, pharmacies, patient, patients, schema.schema_id))



asyncio.run(main())
