//! Messages to subscribers of a credential book: those of Standard Webhooks, with the members of OrgBook's.

use selfsame_book::news::BookNews;
use selfsame_book::number;
use selfsame_driver::Result;
use selfsame_store::Store;
use serde_json::{Value, json};

use crate::delivery::Delivery;
use crate::endpoint::NewsReader;
use crate::records;

/// The body of a message to a subscriber; `None` if there is nothing to tell any more, because the entry was erased.
///
/// # Errors
/// The store's.
pub(crate) async fn body(
    store: &Store,
    reader: &NewsReader,
    delivery: &Delivery,
) -> Result<Option<Vec<u8>>> {
    let told = &delivery.told;
    let mut message = told.message();
    let Some(members) = message.as_object_mut() else {
        return Ok(None);
    };
    if told.is_news() {
        let Some(news) = records::news(store, told).await? else {
            return Ok(None);
        };
        members.insert("data".to_owned(), entered(&told.subject, &news));
    }
    // A subscriber can't read the sequence of events, which tells how much happens in the whole instance.
    members.remove("cursor");
    members.insert(
        "subscription".to_owned(),
        subscription(&delivery.endpoint, reader),
    );
    Ok(Some(message.to_string().into_bytes()))
}

/// What is told of an entry. The book shows all of it to anybody.
fn entered(credential_id: &str, news: &BookNews) -> Value {
    json!({
        "id": number::credential(credential_id),
        "credential_id": credential_id,
        "corp_num": news.topic.source_id,
        "topic_id": number::topic(&news.topic),
        "topic_type": news.topic.kind,
        "new_topic": news.is_first,
        "credential_type": news.type_id,
        "issuer": news.issuer,
        "credential_json": {
            "schema_name": news.type_id,
            "attributes": news.shown,
        },
    })
}

fn subscription(id: &str, reader: &NewsReader) -> Value {
    let topic = reader.wanted.topic();
    let token = Some(reader.token.expose()).filter(|token| !token.is_empty());
    json!({
        "id": id,
        "owner": reader.subscriber,
        "subscription_type": reader.wanted.name(),
        "topic_source_id": topic.map(|topic| &topic.source_id),
        "topic_type": topic.and_then(|topic| topic.kind.as_ref()),
        "credential_type": reader.wanted.type_id(),
        "hook_token": token,
    })
}
