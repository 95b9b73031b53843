//! A plan of sign-ins at eSignet's addresses: what it makes before, what it measures, and what a run replaces.

use std::{ops::Range, path::Path};

use crate::jmeter::xml::{self, Edit, Element};

/// The variables that say where the provider is, how long the run takes, and where a run writes what it made.
const PROTOCOL: &str = "protocol";
const SERVER: &str = "serverIP";
const PORT: &str = "serverPortNo";
/// The authority in the audience of client assertions.
const AUTHORITY: &str = "serverIpEsignet";
const DURATION: &str = "testDuration";
const MADE: &str = "runTimeFilePath";
const VARIABLES: [&str; 6] = [PROTOCOL, SERVER, PORT, AUTHORITY, DURATION, MADE];
/// The calls by which clients and people are made, and the last call of a sign-in.
const CLIENT: &str = "/v1/esignet/client-mgmt/oidc-client";
const PERSON: &str = "/v1/mock-identity-system/identity";
const LAST: &str = "/v1/esignet/oidc/userinfo";
/// Clients that are made: a plan passes over the first line of a file.
const CLIENTS: u32 = 2;
/// People that are made for each minute: a one-time password is sent to each 20 times at most.
const PEOPLE: u32 = 100;

/// A plan.
#[derive(Debug)]
pub struct Plan {
    text: String,
    /// The names of the requests of a sign-in, in their order.
    pub steps: Vec<String>,
    variables: Vec<Variable>,
    /// How often clients and people are made.
    clients: Place,
    people: Place,
    /// The number of simultaneous users.
    users: Place,
    /// Whether the groups of users follow each other.
    serial: Place,
    /// Requests that name a protocol and a port of their own.
    addressed: Vec<Addressed>,
    /// The files that are read.
    files: Vec<Place>,
    /// Elements of plug-ins, with the tree that belongs to them.
    foreign: Vec<Place>,
}

/// A value, and where it is.
#[derive(Clone, Debug)]
struct Place {
    value: String,
    at: Range<usize>,
}

#[derive(Debug)]
struct Variable {
    name: String,
    place: Place,
}

/// A request with its own protocol and port.
#[derive(Debug)]
struct Addressed {
    protocol: Place,
    port: Place,
}

/// What a run wants of a plan.
pub struct Wanted<'a> {
    /// The port of the provider, at this machine's loopback.
    pub port: u16,
    pub minutes: u32,
    /// The number of users, in place of the plan's.
    pub users: Option<u32>,
    /// The folder for what is made before the sign-ins.
    pub made: &'a Path,
    /// The plan, beside which its files are.
    pub beside: &'a Path,
}

/// A plan for a run.
pub struct Rewritten {
    pub text: String,
    /// What was replaced, for people.
    pub told: Vec<String>,
}

/// A group of users with its requests.
struct Group<'p> {
    element: &'p Element,
    requests: Vec<&'p Element>,
}

impl Plan {
    /// Reads a plan.
    ///
    /// Refuses what is not a plan of these calls, and says what it looked for.
    pub fn read(text: &str) -> Result<Self, String> {
        let root = xml::parse(text).map_err(|why| format!("this is no plan of JMeter: {why}"))?;
        let (mut groups, mut foreign) = (Vec::new(), Vec::new());
        walk(&root, &mut groups, &mut foreign);
        let signs_in = with(&groups, LAST)?;
        let requests = signs_in.requests.iter();
        let steps = requests.map(|one| one.attribute("testname").unwrap_or_default().to_owned());
        let mut plans = Vec::new();
        root.below("TestPlan", &mut plans);
        let plan = *plans.first().ok_or("the plan has no TestPlan")?;
        Ok(Self {
            steps: steps.collect(),
            variables: variables(&root)?,
            clients: loops(with(&groups, CLIENT)?)?,
            people: loops(with(&groups, PERSON)?)?,
            users: property(signs_in.element, "ThreadGroup.num_threads")?,
            serial: property(plan, "TestPlan.serialize_threadgroups")?,
            addressed: addressed(&groups)?,
            files: files(&root),
            foreign,
            text: text.to_owned(),
        })
    }

    /// The plan for a run. All other bytes stay as they are.
    pub fn rewritten(&self, wanted: &Wanted<'_>) -> Rewritten {
        let (mut edits, mut told) = (Vec::new(), Vec::new());
        let mut replace = |name: &str, place: &Place, to: String| {
            if place.value != to {
                told.push(format!("{name}: {to} in place of {}", place.value));
                let at = place.at.clone();
                edits.push(Edit { at, to });
            }
        };
        let (port, made) = (wanted.port.to_string(), wanted.made.display().to_string());
        for Variable { name, place } in &self.variables {
            let to = match name.as_str() {
                PROTOCOL => "http".to_owned(),
                SERVER => "localhost".to_owned(),
                PORT => port.clone(),
                AUTHORITY => format!("localhost:{port}"),
                DURATION => (u64::from(wanted.minutes) * 60).to_string(),
                _ => made.clone(),
            };
            replace(name, place, to);
        }
        replace("clients", &self.clients, CLIENTS.to_string());
        let people = PEOPLE * wanted.minutes + 1;
        replace("people", &self.people, people.to_string());
        replace("groups one after another", &self.serial, "true".to_owned());
        if let Some(users) = wanted.users {
            replace("users", &self.users, users.to_string());
        }
        for Addressed {
            protocol,
            port: own,
        } in &self.addressed
        {
            replace("a protocol", protocol, "http".to_owned());
            replace("a port", own, port.clone());
        }
        for file in &self.files {
            if let Some(found) = found(wanted.beside, &file.value) {
                replace("a file", file, found);
            }
        }
        for one in &self.foreign {
            told.push(format!("left out: {}", one.value));
            edits.push(Edit {
                at: one.at.clone(),
                to: String::new(),
            });
        }
        Rewritten {
            text: xml::edited(&self.text, edits),
            told,
        }
    }
}

/// Gathers groups of users, and elements of plug-ins. JMeter writes an element and then the tree below it.
fn walk<'p>(element: &'p Element, groups: &mut Vec<Group<'p>>, foreign: &mut Vec<Place>) {
    let followers = element.children.iter().skip(1).map(Some).chain([None]);
    for (child, next) in element.children.iter().zip(followers) {
        let tree = next.filter(|next| next.name == "hashTree");
        if child.name == "ThreadGroup" && child.attribute("enabled") != Some("false") {
            let mut requests = Vec::new();
            if let Some(tree) = tree {
                tree.below("HTTPSamplerProxy", &mut requests);
            }
            groups.push(Group {
                element: child,
                requests,
            });
        }
        // The name of an element of JMeter is a word; that of a plug-in is a Java class.
        if child.name.contains('.') && element.name == "hashTree" {
            let end = tree.map_or(child.all.end, |tree| tree.all.end);
            foreign.push(Place {
                value: child.name.clone(),
                at: child.all.start..end,
            });
            continue;
        }
        walk(child, groups, foreign);
    }
}

/// The group with a request to this path.
fn with<'g, 'p>(groups: &'g [Group<'p>], path: &str) -> Result<&'g Group<'p>, String> {
    let calls = |one: &&Element| {
        let own = one.property("HTTPSampler.path");
        own.is_some_and(|own| own.value.trim() == path)
    };
    let mut groups = groups.iter();
    let found = groups.find(|group| group.requests.iter().any(calls));
    found.ok_or_else(|| {
        format!("no group of users calls {path}: {CLIENT}, {PERSON} and {LAST} were looked for")
    })
}

fn property(of: &Element, name: &str) -> Result<Place, String> {
    let found = of.property(name);
    let found =
        found.ok_or_else(|| format!("<{}> has no {name}, which was looked for", of.name))?;
    Ok(Place {
        value: found.value.clone(),
        at: found.text.clone(),
    })
}

/// How often a group does its requests.
fn loops(group: &Group<'_>) -> Result<Place, String> {
    let controller = group.element.property("ThreadGroup.main_controller");
    let controller = controller.ok_or("a group of users has no controller of its loops")?;
    property(controller, "LoopController.loops")
}

/// The variables of a run; all of them must be there.
fn variables(root: &Element) -> Result<Vec<Variable>, String> {
    let (mut all, mut found) = (Vec::new(), Vec::new());
    root.below("elementProp", &mut all);
    for name in VARIABLES {
        let mut named = all.iter().filter(|one| {
            let own = one.property("Argument.name");
            own.is_some_and(|own| own.value == name)
        });
        let one = named.next();
        let one = one.ok_or_else(|| {
            format!(
                "the plan has no variable {name}: {} were looked for",
                VARIABLES.join(", ")
            )
        })?;
        found.push(Variable {
            name: name.to_owned(),
            place: property(one, "Argument.value")?,
        });
    }
    Ok(found)
}

/// The requests that do not take the protocol and the port of the variables.
fn addressed(groups: &[Group<'_>]) -> Result<Vec<Addressed>, String> {
    let mut found = Vec::new();
    for request in groups.iter().flat_map(|group| &group.requests) {
        let protocol = property(request, "HTTPSampler.protocol")?;
        if !protocol.value.starts_with("${") {
            let port = property(request, "HTTPSampler.port")?;
            found.push(Addressed { protocol, port });
        }
    }
    Ok(found)
}

/// The files that the plan reads and does not write.
fn files(root: &Element) -> Vec<Place> {
    let mut sets = Vec::new();
    root.below("CSVDataSet", &mut sets);
    let files = sets
        .into_iter()
        .filter_map(|set| property(set, "filename").ok());
    files.filter(|file| !file.value.contains("${")).collect()
}

/// A file that is beside the plan, or beside the folder of the plan.
fn found(plan: &Path, file: &str) -> Option<String> {
    let mut folders = plan.ancestors().skip(1).take(2);
    let found = folders.find_map(|folder| folder.join(file).canonicalize().ok());
    found.map(|found| found.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = include_str!("small.jmx");

    fn rewritten(users: Option<u32>) -> Rewritten {
        Plan::read(SMALL).unwrap().rewritten(&Wanted {
            port: 8080,
            minutes: 2,
            users,
            made: Path::new("/tmp/made"),
            beside: Path::new("/nowhere/plan.jmx"),
        })
    }

    #[test]
    fn a_plan_has_the_seven_calls_of_a_sign_in() {
        let plan = Plan::read(SMALL).unwrap();
        let expected = [
            "Csrf",
            "Details",
            "Send",
            "Authenticate",
            "Code",
            "Token",
            "Userinfo",
        ];
        assert_eq!(plan.steps, expected);
    }

    #[test]
    fn a_run_replaces_the_place_the_time_and_the_numbers_and_nothing_else() {
        let first = rewritten(None);
        let plan = Plan::read(&first.text).unwrap();
        let variables = plan.variables.iter();
        let variables: Vec<_> = variables.map(|one| one.place.value.as_str()).collect();
        assert_eq!(
            variables,
            [
                "http",
                "localhost",
                "8080",
                "localhost:8080",
                "120",
                "/tmp/made"
            ]
        );
        let numbers = [&plan.clients, &plan.people, &plan.users, &plan.serial];
        assert_eq!(
            numbers.map(|one| one.value.as_str()),
            ["2", "201", "100", "true"]
        );
        let own = &plan.addressed[0];
        assert_eq!(
            (own.protocol.value.as_str(), own.port.value.as_str()),
            ("http", "8080")
        );
        assert!(plan.foreign.is_empty() && !first.text.contains("example.plugin"));
        assert!(first.text.contains("<name>saved</name>"));
        assert_eq!(rewritten(Some(7)).told.len(), first.told.len() + 1);
        // A second run of the same replaces nothing.
        assert!(
            plan.rewritten(&Wanted {
                port: 8080,
                minutes: 2,
                users: None,
                made: Path::new("/tmp/made"),
                beside: Path::new("/nowhere/plan.jmx"),
            })
            .told
            .is_empty()
        );
    }

    #[test]
    fn what_is_not_such_a_plan_is_refused_with_what_was_looked_for() {
        for (from, to, why) in [
            (
                "/v1/esignet/oidc/userinfo",
                "/userinfo",
                "/v1/esignet/oidc/userinfo",
            ),
            (">serverIP<", ">server<", "serverIP"),
            (
                "TestPlan.serialize_threadgroups",
                "x",
                "serialize_threadgroups",
            ),
        ] {
            let other = SMALL.replace(from, to);
            assert!(Plan::read(&other).unwrap_err().contains(why), "{from}");
        }
        assert!(Plan::read("<a/>").is_err());
    }
}
