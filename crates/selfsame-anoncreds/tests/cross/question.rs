//! Random presentation requests that a holder's credentials can answer, and the answers.

use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::flow::{Definition, Held, Registry, Table, read};

/// A credential with the objects it was issued under.
pub struct Card<'a> {
    pub definition: &'a Definition,
    pub held: &'a Held,
    pub registry: Option<&'a Registry>,
    /// The suffix of restrictions to an issuer: `did` if all identifiers are legacy, `id` if none is.
    pub ending: Option<&'static str>,
}

/// A request and the holder's choice, built up together.
#[derive(Default)]
struct Question {
    attributes: Map<String, Value>,
    predicates: Map<String, Value>,
    self_attested: Map<String, Value>,
    chosen: Vec<Value>,
}

/// The arguments of `present` for a random question that these cards answer.
pub fn ask(
    table: &mut Table,
    dice: &mut Dice,
    link_secret: &Value,
    cards: &[Card<'_>],
) -> Result<Value, String> {
    let mut question = Question::default();
    let everywhere = dice.once_in(2);
    let mut interval = Value::Null;
    for (number, card) in cards.iter().enumerate() {
        let proves = card.registry.is_some() && !dice.once_in(3);
        let mut choice =
            json!({ "credential": card.held.credential, "attributes": [], "predicates": [] });
        let mut asked = Value::Null;
        if let (true, Some(registry)) = (proves, card.registry) {
            let newest = registry.lists.last().unwrap().0;
            choice["timestamp"] = json!(newest);
            choice["state"] = registry.state(table, dice, card.definition, card.held)?;
            asked = json!({ "from": newest - dice.below(50) as u64, "to": newest + dice.below(50) as u64 });
        }
        if everywhere && cards.len() == 1 {
            interval = std::mem::take(&mut asked);
        }
        question.about(dice, card, number, (&asked, &mut choice));
        question.chosen.push(choice);
    }
    if dice.once_in(3) {
        question
            .attributes
            .insert("own".to_owned(), json!({ "name": "telephone" }));
        question
            .self_attested
            .insert("own".to_owned(), json!("555 0100"));
    }
    let nonce = table.must(dice, "nonce", &json!({}));
    let mut request = json!({
        "name": "test", "version": "1.0", "nonce": nonce, "ver": dice.pick(&["1.0", "2.0"]),
        "requested_attributes": question.attributes, "requested_predicates": question.predicates });
    if !interval.is_null() {
        request["non_revoked"] = interval;
    }
    if cards.iter().any(|card| card.definition.is_legacy()) {
        request["ver"] = json!("1.0");
    }
    let kept = |id: fn(&Definition) -> &String,
                message: fn(&Definition) -> &Value|
     -> Map<String, Value> {
        cards
            .iter()
            .map(|card| {
                (
                    id(card.definition).clone(),
                    message(card.definition).clone(),
                )
            })
            .collect()
    };
    Ok(json!({
        "request": request.to_string(), "credentials": question.chosen, "self_attested": question.self_attested,
        "link_secret": link_secret, "schemas": kept(|d| &d.schema_id, |d| &d.schema),
        "cred_defs": kept(|d| &d.cred_def_id, |d| &d.cred_def) }))
}

/// The arguments of `verify` for the presentation made with these arguments.
pub fn judge(asked: &Value, presentation: Value, cards: &[Card<'_>]) -> Value {
    let registries = cards.iter().filter_map(|card| card.registry);
    let lists: Vec<&Value> = registries
        .clone()
        .flat_map(|registry| registry.lists.iter().map(|(_, list)| list))
        .collect();
    let definitions: Map<String, Value> = registries
        .map(|registry| (registry.id.clone(), registry.definition.clone()))
        .collect();
    json!({
        "presentation": presentation, "request": asked["request"], "schemas": asked["schemas"],
        "cred_defs": asked["cred_defs"], "registries": definitions, "lists": lists })
}

impl Question {
    /// Asks about some attributes of one card, at least the first.
    fn about(
        &mut self,
        dice: &mut Dice,
        card: &Card<'_>,
        number: usize,
        (interval, choice): (&Value, &mut Value),
    ) {
        let mut group = Vec::new();
        for (at, (name, value)) in card.held.values.iter().enumerate() {
            let referent = format!("{number}.{at}");
            let integer = value
                .parse::<i32>()
                .ok()
                .filter(|_| *value != "-0" && !value.starts_with('+'));
            let mut asked = json!({ "name": spelling(dice, name) });
            match (dice.below(6), integer) {
                (0 | 1, Some(value)) => {
                    let (kind, bound) = predicate(dice, value);
                    asked["p_type"] = json!(kind);
                    asked["p_value"] = json!(bound);
                    restrict(dice, card, &[], &mut asked);
                    add(&mut self.predicates, &referent, asked, interval);
                    choice["predicates"]
                        .as_array_mut()
                        .unwrap()
                        .push(json!(referent));
                }
                (2, _) => group.push(name),
                (kind, _) if kind == 3 || kind == 4 || at == 0 => {
                    // At least one attribute is revealed, so that a request for non-revocation can belong to it.
                    let reveal = kind != 4 || at == 0;
                    restrict(
                        dice,
                        card,
                        if reveal {
                            std::slice::from_ref(&name)
                        } else {
                            &[]
                        },
                        &mut asked,
                    );
                    add(&mut self.attributes, &referent, asked, interval);
                    choice["attributes"]
                        .as_array_mut()
                        .unwrap()
                        .push(json!([referent, reveal]));
                }
                _ => {}
            }
        }
        if !group.is_empty() {
            let referent = format!("{number}.group");
            let mut asked = json!({ "names": group });
            restrict(dice, card, &group, &mut asked);
            add(&mut self.attributes, &referent, asked, interval);
            choice["attributes"]
                .as_array_mut()
                .unwrap()
                .push(json!([referent, true]));
        }
    }
}

fn add(to: &mut Map<String, Value>, referent: &str, mut asked: Value, interval: &Value) {
    if !interval.is_null() {
        asked["non_revoked"] = interval.clone();
    }
    to.insert(referent.to_owned(), asked);
}

/// The name in another spelling of the same attribute.
fn spelling(dice: &mut Dice, name: &str) -> String {
    match dice.below(4) {
        0 => name.to_lowercase(),
        1 => name.replace(' ', ""),
        _ => name.to_owned(),
    }
}

/// A true statement about this value.
fn predicate(dice: &mut Dice, value: i32) -> (&'static str, i32) {
    let distance = dice.integer().saturating_abs() >> dice.below(31);
    let (kind, bound) = match dice.below(4) {
        0 => (">=", value.checked_sub(distance)),
        1 => ("<=", value.checked_add(distance)),
        2 => (
            ">",
            value
                .checked_sub(distance)
                .and_then(|bound| bound.checked_sub(1)),
        ),
        _ => (
            "<",
            value
                .checked_add(distance)
                .and_then(|bound| bound.checked_add(1)),
        ),
    };
    bound.map_or(("<=", value), |bound| (kind, bound))
}

/// Restricts the answer to this card, in one of the forms of the query language.
fn restrict(dice: &mut Dice, card: &Card<'_>, revealed: &[&String], asked: &mut Value) {
    let definition = card.definition;
    let schema = read(&definition.schema);
    let mut true_of_it = vec![
        json!({ "schema_id": definition.schema_id }),
        json!({ "schema_name": schema["name"] }),
        json!({ "schema_version": schema["version"] }),
        json!({ "cred_def_id": definition.cred_def_id }),
    ];
    // A request may not use the old and the new name of the same restriction.
    if let Some(ending) = card.ending {
        for tag in ["schema_issuer", "issuer"] {
            true_of_it.push(json!({ format!("{tag}_{ending}"): definition.issuer_id }));
        }
    }
    if let Some(name) = revealed.first() {
        // In a restriction, the library recognises an attribute only in the spelling of the request.
        let spelt = asked["name"].as_str().unwrap_or(name);
        let mut query = Map::new();
        query.insert(
            format!("attr::{spelt}::value"),
            json!(card.held.values[*name]),
        );
        // The library reads the marker of a requested attribute as its value, so the marker of another attribute is
        // used.
        let other = definition
            .attributes
            .iter()
            .find(|other| !revealed.contains(other));
        if let Some(other) = other {
            query.insert(format!("attr::{other}::marker"), json!("1"));
        }
        true_of_it.push(Value::Object(query));
    }
    let one = dice.pick(&true_of_it).clone();
    let two = dice.pick(&true_of_it).clone();
    let other = json!({ "schema_name": "another" });
    asked["restrictions"] = match dice.below(8) {
        0 => json!([one]),
        1 => json!([other, one]),
        2 => json!({ "$and": [one, two] }),
        3 => json!({ "$or": [other, two] }),
        4 => json!({ "$not": other }),
        5 => json!({ "$and": [one, { "$not": other }] }),
        6 => {
            json!({ "cred_def_id": { "$in": ["x", definition.cred_def_id] }, "schema_name": { "$neq": "y" } })
        }
        _ => return,
    };
}
