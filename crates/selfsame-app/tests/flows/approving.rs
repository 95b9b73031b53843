//! Credentials that need an approval (OpenID4VCI 1.0 §9): what happens if a process of either side ends meanwhile.

use std::time::Duration;

use selfsame_approvals::Decision;
use selfsame_approvals::view::{Approval, ApprovalState, WhichApprovals};
use selfsame_openid::view::issuer::{NewOffer, Offer};

use crate::world::{
    DEFERRED, Fault, Site, WalletHost, accept, belongings, new_offer, outcome, person,
};

async fn offered(site: &Site) -> Offer {
    let new = NewOffer {
        needs_approval: Some(true),
        ..new_offer("immunization", "dc+sd-jwt")
    };
    site.offer_of(new).await
}

/// The only request in a state.
async fn the_one(site: &Site, state: ApprovalState) -> Approval {
    let which = WhichApprovals {
        state: Some(state),
        ..WhichApprovals::default()
    };
    let issuer = site.app.main().issuer().unwrap();
    let mut listed = issuer.approvals().list(&which).await.unwrap().items;
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed.remove(0)
}

async fn approve(site: &Site) {
    let id = the_one(site, ApprovalState::Waiting).await.id;
    let issuer = site.app.main().issuer().unwrap();
    let approved = issuer.approvals().decide(&id, &Decision::Approve).await;
    assert_eq!(approved.unwrap().state, ApprovalState::Approved);
}

#[test]
fn a_restart_between_request_and_approval_loses_nothing() {
    let outside = tokio::runtime::Runtime::new().unwrap();
    let mut site = outside.block_on(Site::approving());
    let offer = outside.block_on(offered(&site));
    let host = WalletHost::new(&site);
    let first = host.process();
    let person = first.runtime.block_on(person(&first.app));
    let wallet = first.app.wallet().unwrap();
    let taken = accept(&offer);
    let told = wallet.accept_offer(&person, &taken);
    let told = first.runtime.block_on(told).unwrap_err();
    assert_eq!(told.reason.id(), "credential-prepared");
    first.kill();
    outside.block_on(async {
        site.restart().await;
        approve(&site).await;
        site.restart().await;
    });
    let second = host.process();
    second.app.clock().advance(61);
    let (cards, history) = second.runtime.block_on(outcome(&second.app, &person));
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
    second.kill();
    outside.block_on(async {
        assert_eq!(site.issued().await, 1);
        the_one(&site, ApprovalState::Issued).await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_the_credential_that_is_lost_is_given_again() {
    let site = Site::approving().await;
    let app = WalletHost::new(&site).open().await;
    let person = person(&app).await;
    let offer = offered(&site).await;
    let wallet = app.wallet().unwrap();
    let told = wallet.accept_offer(&person, &accept(&offer)).await;
    assert_eq!(told.unwrap_err().reason.id(), "credential-prepared");
    approve(&site).await;
    site.faults.add(DEFERRED, Fault::CutAfter);
    app.clock().advance(61);
    site.faults.is_met().await;
    for _ in 0..200 {
        let (cards, _) = belongings(&app, &person).await;
        if !cards.is_empty() {
            break;
        }
        // The wallet tries again in its time, which is not that of the issuer.
        app.clock().advance(5);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (cards, history) = outcome(&app, &person).await;
    assert_eq!((cards.len(), history[0].what.as_str()), (1, "received"));
    assert_eq!(site.issued().await, 1);
}
