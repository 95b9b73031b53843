//! What a plan says: the agents that it calls and where it expects them, what it issues and asks for, and which of its
//! values a run replaces.

use std::{collections::BTreeSet, ops::Range};

use serde_json::Value;

use super::xml::{self, Edit, Element};

/// The variables with what is published before a run: their values are of the network that the plan was made for.
const SCHEMA: &str = "schema_id";
const DEFINITION: &str = "credential_definition_id";
const ISSUER: &str = "issuer_did";
const NAME: &str = "schema_name";
const VERSION: &str = "schema_version";
/// The calls by which the plan tells who is who.
const ISSUES: &str = "/issue-credential-2.0/send";
const ASKS: &str = "/present-proof-2.0/send-request";
const RECEIVES: &str = "/connections/receive-invitation";
/// The formats of attachments whose requests have the members of AnonCreds.
const FORMATS: [&str; 2] = ["indy", "anoncreds"];

/// A plan that can be run.
#[derive(Debug)]
pub struct Plan {
    text: String,
    /// Who issues.
    pub issuer: Place,
    /// Who verifies. It may be the issuer.
    pub verifier: Place,
    /// Who holds, each with a wallet of its own.
    pub holders: Vec<Place>,
    pub schema: PlanSchema,
    /// The names of the requests, in their order.
    pub steps: Vec<String>,
    /// The number of simultaneous users, and where it is.
    pub users: u32,
    users_at: Range<usize>,
    variables: Vec<Variable>,
    /// The moment for which a proof of non-revocation is asked, and where it is.
    moment: Option<Moment>,
}

/// Where the plan expects the admin API of an agent.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Place {
    pub host: String,
    pub port: u16,
}

/// The schema of what the plan issues.
#[derive(Debug, PartialEq)]
pub struct PlanSchema {
    pub name: String,
    pub version: String,
    pub attributes: Vec<String>,
    /// Whether the plan asks for a proof of non-revocation.
    pub is_revocable: bool,
}

/// What a run has published, which takes the place of what the plan's authors had.
#[derive(Debug)]
pub struct Published {
    pub schema_id: String,
    pub cred_def_id: String,
    pub issuer_did: String,
    /// The moment for which a proof of non-revocation is asked, in seconds since 1970.
    pub moment: u64,
}

#[derive(Debug)]
struct Variable {
    name: String,
    value: String,
    at: Range<usize>,
}

#[derive(Debug)]
struct Moment {
    value: u64,
    at: Range<usize>,
}

/// A value that a run replaces, for people.
#[derive(Debug, PartialEq)]
pub struct Replacement {
    pub name: String,
    pub from: String,
    pub to: String,
}

/// A request of the plan.
struct Sampler<'p> {
    name: &'p str,
    path: String,
    places: Vec<Place>,
    /// The body, where it is.
    body: Option<&'p Element>,
}

impl Plan {
    /// Reads a plan.
    ///
    /// Refuses what is not a plan of these calls, and says what it looked for.
    pub fn read(text: &str) -> Result<Self, String> {
        let root = xml::parse(text).map_err(|why| format!("this is no plan of JMeter: {why}"))?;
        if root.name != "jmeterTestPlan" {
            return Err(format!(
                "this is no plan of JMeter: it begins with <{}>, and <jmeterTestPlan> was looked for",
                root.name
            ));
        }
        let page = Page { root: &root };
        let variables = page.variables()?;
        let value = |name: &str| {
            let found = variables.iter().find(|one| one.name == name);
            found.map(|one| one.value.clone()).unwrap_or_default()
        };
        let (samplers, users) = (page.samplers()?, page.users()?);
        let offer = body(called(&samplers, ISSUES)?)?;
        let asked = called(&samplers, ASKS)?;
        let request = body(asked)?;
        let moment = moment(text, asked, &request)?;
        let plan = Self {
            text: text.to_owned(),
            issuer: only(called(&samplers, ISSUES)?)?,
            verifier: only(asked)?,
            holders: called(&samplers, RECEIVES)?.places.clone(),
            schema: PlanSchema {
                name: value(NAME),
                version: value(VERSION),
                attributes: attributes(&offer)?,
                is_revocable: moment.is_some(),
            },
            steps: samplers.iter().map(|one| one.name.to_owned()).collect(),
            users: users.value,
            users_at: users.at,
            variables,
            moment,
        };
        plan.knows_all(&samplers)?;
        Ok(plan)
    }

    /// The agents that the plan calls, each once.
    pub fn places(&self) -> BTreeSet<&Place> {
        let both = [&self.issuer, &self.verifier];
        both.into_iter().chain(&self.holders).collect()
    }

    /// The plan with what was published, and with this number of users if it is given; and what was replaced. All other
    /// bytes stay as they are.
    pub fn rewritten(
        &self,
        published: &Published,
        users: Option<u32>,
    ) -> (String, Vec<Replacement>) {
        let mut edits = Vec::new();
        let mut replaced = Vec::new();
        let mut replace = |name: &str, from: &str, edit: Edit| {
            if from != edit.to {
                replaced.push(Replacement {
                    name: name.to_owned(),
                    from: from.to_owned(),
                    to: edit.to.clone(),
                });
                edits.push(edit);
            }
        };
        for variable in &self.variables {
            let to = match variable.name.as_str() {
                SCHEMA => &published.schema_id,
                DEFINITION => &published.cred_def_id,
                ISSUER => &published.issuer_did,
                NAME => &self.schema.name,
                VERSION => &self.schema.version,
                _ => continue,
            };
            let (at, to) = (variable.at.clone(), to.clone());
            replace(&variable.name, &variable.value, Edit { at, to });
        }
        if let Some(Moment { value, at }) = &self.moment {
            let (at, to) = (at.clone(), published.moment.to_string());
            replace("non_revoked.to", &value.to_string(), Edit { at, to });
        }
        if let Some(users) = users {
            let (at, to) = (self.users_at.clone(), users.to_string());
            replace("users", &self.users.to_string(), Edit { at, to });
        }
        (xml::edited(&self.text, edits), replaced)
    }

    /// Whether each request goes to one of the agents: no other host may be called.
    fn knows_all(&self, samplers: &[Sampler]) -> Result<(), String> {
        let known = self.places();
        for sampler in samplers {
            if let Some(other) = sampler.places.iter().find(|one| !known.contains(one)) {
                return Err(format!(
                    "the request \"{}\" calls {}:{}, which is neither the issuer, the verifier nor a holder: those were looked for by their calls {ISSUES}, {ASKS} and {RECEIVES}",
                    sampler.name, other.host, other.port
                ));
            }
        }
        Ok(())
    }
}

/// The document of a plan.
struct Page<'p> {
    root: &'p Element,
}

/// A number in the plan, and where it is.
struct Number {
    value: u32,
    at: Range<usize>,
}

impl<'p> Page<'p> {
    fn all(&self, name: &str) -> Vec<&'p Element> {
        let mut found = Vec::new();
        self.root.below(name, &mut found);
        found.retain(|one| one.attribute("enabled") != Some("false"));
        found
    }

    /// A property's text; empty if there is none.
    fn property(&self, of: &Element, name: &str) -> String {
        of.property(name)
            .map_or_else(String::new, |one| one.value.clone())
    }

    /// The user-defined variables. Those of what is published must be there.
    fn variables(&self) -> Result<Vec<Variable>, String> {
        let mut found = Vec::new();
        for plan in self.all("TestPlan") {
            let list = plan.property("TestPlan.user_defined_variables");
            let mut listed = Vec::new();
            if let Some(list) = list {
                list.below("elementProp", &mut listed);
            }
            for one in listed {
                if let Some(value) = one.property("Argument.value") {
                    found.push(Variable {
                        name: self.property(one, "Argument.name"),
                        value: value.value.clone(),
                        at: value.text.clone(),
                    });
                }
            }
        }
        for wanted in [SCHEMA, DEFINITION, ISSUER, NAME, VERSION] {
            let valued = |one: &&Variable| one.name == wanted && !one.value.is_empty();
            let count = found.iter().filter(valued).count();
            if count != 1 {
                return Err(format!(
                    "the plan has {count} values for the user-defined variable {wanted}: one was looked for, as of {SCHEMA}, {DEFINITION}, {ISSUER}, {NAME} and {VERSION}"
                ));
            }
        }
        Ok(found)
    }

    /// The number of simultaneous users.
    fn users(&self) -> Result<Number, String> {
        let groups = self.all("ThreadGroup");
        let [group] = &groups[..] else {
            return Err(format!(
                "the plan has {} thread groups, and one was looked for",
                groups.len()
            ));
        };
        let wanted = "the number of users (ThreadGroup.num_threads) is no number";
        let threads = group.property("ThreadGroup.num_threads").ok_or(wanted)?;
        Ok(Number {
            value: threads.value.clone().parse().map_err(|_| wanted)?,
            at: threads.text.clone(),
        })
    }

    /// The requests, in their order.
    fn samplers(&self) -> Result<Vec<Sampler<'p>>, String> {
        let sets = self.parameters();
        let read = |element: &'p Element| {
            let name = element.attribute("testname").unwrap_or_default();
            let protocol = self.property(element, "HTTPSampler.protocol");
            if !matches!(protocol.as_str(), "" | "http") {
                return Err(format!(
                    "the request \"{name}\" is made by {protocol}, and http was looked for"
                ));
            }
            let host = self.property(element, "HTTPSampler.domain");
            let port = self.property(element, "HTTPSampler.port");
            let mut places = BTreeSet::new();
            for set in &sets {
                places.insert(Place::parse(&filled(&host, set), &filled(&port, set))?);
            }
            let mut bodies = Vec::new();
            element.below("stringProp", &mut bodies);
            bodies.retain(|one| one.attribute("name") == Some("Argument.value"));
            Ok(Sampler {
                name,
                path: self.property(element, "HTTPSampler.path"),
                places: places.into_iter().collect(),
                body: bodies.first().copied(),
            })
        };
        self.all("HTTPSamplerProxy").into_iter().map(read).collect()
    }

    /// The sets of values that users take turns with; an empty one if there is none.
    fn parameters(&self) -> Vec<Vec<Parameter>> {
        let mut sets = Vec::new();
        for element in self.all("UserParameters") {
            let names = element.property("UserParameters.names");
            let values = element.property("UserParameters.thread_values");
            let (Some(names), Some(values)) = (names, values) else {
                continue;
            };
            for set in &values.children {
                let pairs = names.children.iter().zip(&set.children);
                let parameter = |(name, value): (&Element, &Element)| Parameter {
                    name: name.value.clone(),
                    value: value.value.clone(),
                };
                sets.push(pairs.map(parameter).collect());
            }
        }
        if sets.is_empty() {
            sets.push(Vec::new());
        }
        sets
    }
}

/// A value that differs between users.
struct Parameter {
    name: String,
    value: String,
}

/// A text with the values of these parameters.
fn filled(text: &str, set: &[Parameter]) -> String {
    let fill =
        |text: String, one: &Parameter| text.replace(&format!("${{{}}}", one.name), &one.value);
    set.iter().fold(text.to_owned(), fill)
}

impl Place {
    fn parse(host: &str, port: &str) -> Result<Self, String> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        // An address can't be mapped to this machine, and no other machine may be called.
        let is_address = host.parse::<std::net::IpAddr>().is_ok();
        if host.is_empty() || is_address || !host.bytes().all(is_name) {
            return Err(format!(
                "the plan calls the host \"{host}\", and a host name was looked for"
            ));
        }
        let port = match port {
            "" => 80,
            port => port
                .parse()
                .map_err(|_| format!("the plan calls {host} at \"{port}\", which is no port"))?,
        };
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

/// The first request by which this call is made.
fn called<'s, 'p>(samplers: &'s [Sampler<'p>], path: &str) -> Result<&'s Sampler<'p>, String> {
    let mut samplers = samplers.iter();
    let found = samplers.find(|one| one.path.split('?').next() == Some(path));
    found.ok_or_else(|| {
        format!("the plan does not call {path}: {ISSUES}, {ASKS} and {RECEIVES} were looked for")
    })
}

/// The one place that a request goes to.
fn only(sampler: &Sampler) -> Result<Place, String> {
    match &sampler.places[..] {
        [place] => Ok(place.clone()),
        several => Err(format!(
            "the request \"{}\" goes to {} agents, and one was looked for",
            sampler.name,
            several.len()
        )),
    }
}

/// The body of a request. Its variables are in quotes, so it is JSON before they have values.
fn body(sampler: &Sampler) -> Result<Value, String> {
    let body = sampler.body.map_or("", |one| one.value.as_str());
    serde_json::from_str(body)
        .map_err(|error| format!("the body of \"{}\" is not JSON: {error}", sampler.name))
}

/// The names of the attributes of what is issued.
fn attributes(offer: &Value) -> Result<Vec<String>, String> {
    let previewed = offer["credential_preview"]["attributes"].as_array();
    let named = previewed.into_iter().flatten();
    let names = named.map(|one| one["name"].as_str().map(str::to_owned));
    let names = names.collect::<Option<Vec<_>>>().unwrap_or_default();
    match names.is_empty() {
        true => Err(format!(
            "{ISSUES} has no credential_preview with the names of attributes, which was looked for"
        )),
        false => Ok(names),
    }
}

/// The moment of the proof of non-revocation that the request asks for, if it asks for one.
fn moment(text: &str, sampler: &Sampler, request: &Value) -> Result<Option<Moment>, String> {
    let asked = &request["presentation_request"];
    let found = FORMATS.iter().find_map(|format| {
        let interval = &asked[*format]["non_revoked"];
        (!interval.is_null()).then(|| interval["to"].as_u64())
    });
    let (Some(value), Some(element)) = (found, sampler.body) else {
        return Ok(None);
    };
    let wanted = "non_revoked.to of the request for a proof was looked for as one number";
    let value = value.ok_or(wanted)?;
    let (inside, digits) = (element.text.clone(), value.to_string());
    let raw = text.get(inside.clone()).unwrap_or_default();
    let places: Vec<usize> = raw.match_indices(&digits).map(|(at, _)| at).collect();
    let [at] = places[..] else {
        return Err(wanted.to_owned());
    };
    let start = inside.start + at;
    Ok(Some(Moment {
        value,
        at: start..start + digits.len(),
    }))
}

#[cfg(test)]
mod tests;
