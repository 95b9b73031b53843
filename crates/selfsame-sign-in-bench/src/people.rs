//! The people who sign in. They are made up, and the identity system knows each by a number.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_bench::client::BenchClient;
use selfsame_bench::{Error, Progress, tasks};
use serde_json::{Value, json};

use crate::caller::{BenchRequest, JSON, refused};
use crate::clock::wall_clock;

/// The one-time password and the PIN of all people, which the mock identity system knows.
pub const SECRET: &str = "111111";
/// The identifier of the first person. MOSIP's have 5 to 19 digits.
const FIRST: usize = 1_000_000_000;
/// How many are added at once.
const AT_ONCE: usize = 16;
/// A picture of one pixel (PNG).
const PHOTO: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

/// A person.
#[derive(Clone, Debug)]
pub struct BenchPerson {
    /// The identifier.
    pub id: String,
    /// The full name.
    pub name: String,
}

/// People, one after another, and from the beginning again after the last.
#[derive(Clone, Debug)]
pub struct BenchPeople {
    count: usize,
    next: Arc<AtomicUsize>,
}

impl BenchPeople {
    /// This number of people.
    pub fn new(count: usize) -> Self {
        Self {
            count: count.max(1),
            next: Arc::default(),
        }
    }

    /// The next one.
    pub fn next(&self) -> BenchPerson {
        person(self.next.fetch_add(1, Ordering::Relaxed) % self.count)
    }

    /// Adds all of them to a mock identity system, whose addresses begin with this path.
    ///
    /// # Errors
    /// If it refuses.
    pub async fn register(
        &self,
        client: &BenchClient,
        below: &str,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        progress.begin("people", self.count as u64);
        let path: Arc<str> = format!("{below}/identity").into();
        let adding = (0..self.count).map(|number| {
            let (client, path) = (client.clone(), path.clone());
            async move { add(&client, &path, number).await }
        });
        tasks::all(adding, AT_ONCE, progress).await?;
        Ok(())
    }
}

fn person(number: usize) -> BenchPerson {
    BenchPerson {
        id: (FIRST + number).to_string(),
        name: format!("Person Number {number}"),
    }
}

async fn add(client: &BenchClient, path: &str, number: usize) -> Result<(), Error> {
    let body = enveloped(&members(&person(number)));
    let answer = BenchRequest::post(client, path, JSON, body).send().await?;
    let answer = answer.success()?;
    match answer.json()?["errors"].as_array().map(Vec::len) {
        None | Some(0) => Ok(()),
        Some(_) => Err(refused(path, &answer.text())),
    }
}

/// All members that MOSIP's mock identity system demands.
fn members(person: &BenchPerson) -> Value {
    let one = |text: &str| json!([{"language": "eng", "value": text}]);
    let BenchPerson { id, name } = person;
    json!({
        "individualId": id,
        "pin": SECRET,
        "password": SECRET,
        "fullName": one(name),
        "givenName": one("Person"),
        "familyName": one(name),
        "gender": one("Female"),
        "streetAddress": one("1 High Street"),
        "locality": one("Rabat"),
        "region": one("Rabat"),
        "country": one("Morocco"),
        "postalCode": "10000",
        "dateOfBirth": "1990/05/31",
        "encodedPhoto": PHOTO,
        "email": format!("{id}@example.org"),
        "phone": format!("+212{id}"),
        "preferredLang": "eng",
        "locale": "eng",
    })
}

/// A request in the envelope of eSignet and its mock identity system, as of now.
pub fn enveloped(request: &Value) -> String {
    json!({"requestTime": request_time(), "request": request}).to_string()
}

/// Now, with milliseconds.
fn request_time() -> String {
    let time = wall_clock().rfc3339();
    format!("{}.000Z", time.trim_end_matches('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_distinct_until_there_are_no_more() {
        let people = BenchPeople::new(3);
        let ids = [(); 4].map(|()| people.next().id);
        assert_eq!(ids[0], ids[3]);
        let mut distinct = ids[..3].to_vec();
        distinct.dedup();
        assert_eq!(distinct.len(), 3);
    }

    #[test]
    fn the_time_of_a_request_has_milliseconds() {
        let time = request_time();
        assert_eq!((time.len(), &time[19..]), (24, ".000Z"), "{time}");
    }
}
