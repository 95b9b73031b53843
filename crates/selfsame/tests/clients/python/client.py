"""Issues a credential, accepts it into a wallet, presents it, and prints the outcome of its verification."""

import os
from typing import TypeVar

import httpx
from selfsame_client import AuthenticatedClient, Client
from selfsame_client.api.issuer import issuer_create_offer, issuer_get_offer
from selfsame_client.api.verifier import verifier_create_request, verifier_get_request
from selfsame_client.api.wallet import (
    wallet_accept_offer,
    wallet_answer_request,
    wallet_preview_request,
    wallet_register,
)
from selfsame_client.models import (
    AcceptOffer,
    AnswerRequest,
    AnswerRequestCards,
    FormatName,
    NewAccount,
    NewOffer,
    NewRequest,
    OfferState,
    PresentationVerdict,
    Problem,
    RequestLink,
)

T = TypeVar("T")

ORIGIN = os.environ.get("ORIGIN", "http://localhost:7380")


def client(token: str) -> AuthenticatedClient:
    return AuthenticatedClient(base_url=ORIGIN, token=token, timeout=httpx.Timeout(60))


def body(answer: T | Problem | None) -> T:
    """The body of a response; an error of the API is raised with its hint."""
    if isinstance(answer, Problem):
        raise RuntimeError(f"{answer.detail} ({answer.hint})")
    if answer is None:
        raise RuntimeError("the answer is not described")
    return answer


operator = client(os.environ["TOKEN"])
new_offer = NewOffer(type_="immunization", format_=FormatName.DCSD_JWT, examples=True)
offer = body(issuer_create_offer.sync(client=operator, body=new_offer))

account = NewAccount(email="rosa@example.org", password="a long walk in the rain")
session = body(wallet_register.sync(client=Client(base_url=ORIGIN), body=account))
person = client(session.token)
body(wallet_accept_offer.sync(client=person, body=AcceptOffer(offer=offer.uri)))
state = body(issuer_get_offer.sync(offer.id, client=operator)).state
assert state == OfferState.TAKEN, state

request = body(verifier_create_request.sync(client=operator, body=NewRequest(type_="immunization")))
preview = body(wallet_preview_request.sync(client=person, body=RequestLink(request=request.uri)))
cards = AnswerRequestCards()
for share in preview.shares:
    cards[share.query] = share.choices[0].card
body(wallet_answer_request.sync(client=person, body=AnswerRequest(request=preview.id, cards=cards)))

status = body(verifier_get_request.sync(request.id, client=operator, wait=25))
assert isinstance(status.verdict, PresentationVerdict), status.state
print(status.verdict.outcome.value)
