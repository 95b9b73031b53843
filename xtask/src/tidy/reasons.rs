//! Reasons: code names each by the id of its sentence, and the catalogue has exactly the sentences that are named.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use syn::{
    Expr, ExprCall, ExprMethodCall, Item, Lit, UseTree,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{
    source::only_for_tests,
    workspace::{Package, Workspace},
};

use super::{Finding, layers};

/// The sentences in English.
const CATALOGUE: &str = "crates/selfsame-catalogue/en.toml";
/// The crate of `Error` and `Reason`.
const HOME: &str = "selfsame-driver";
/// Its name in code.
const ROOT: &str = "selfsame_driver";
/// The crate of `Problem`, by its name in code.
const EDGE: &str = "selfsame_http";
/// The files that define them; they handle ids as values.
const DEFINITIONS: [&str; 3] = [
    "crates/selfsame-driver/src/error.rs",
    "crates/selfsame-driver/src/reason.rs",
    "crates/selfsame-http/src/error.rs",
];
/// The sentence for texts that an earlier version stored. `Reason` itself names it.
const TEXT: &str = "text";
/// What makes an error, a reason or a problem, and which of its arguments is the id.
const MAKERS: [(&str, &str, usize); 7] = [
    ("Error", "new", 1),
    ("Error", "bad_request", 0),
    ("Error", "not_found", 0),
    ("Error", "upstream", 0),
    ("Reason", "new", 0),
    ("Problem", "new", 1),
    ("Problem", "bad_request", 0),
];

/// A sentence of the catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentence {
    text: String,
    hint: Option<String>,
    fallback_hint: Option<String>,
}

/// A place in code that names a reason, with the parameters that it gives.
#[derive(Debug, Eq, PartialEq)]
struct Named {
    id: String,
    parameters: BTreeSet<String>,
    line: usize,
}

/// What a file says of reasons.
#[derive(Debug, Default)]
struct Read {
    named: Vec<Named>,
    /// What is wrong, and its line.
    wrong: Vec<(usize, String)>,
}

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let text = workspace.text(CATALOGUE).unwrap_or_default();
    let entries: BTreeMap<String, Sentence> = match toml::from_str(text) {
        Ok(entries) => entries,
        Err(error) => return vec![Finding::new(CATALOGUE, format!("can't be read: {error}"))],
    };
    let mut findings = alike(&entries);
    findings.extend(unordered(text));
    let mut used = BTreeSet::from([TEXT.to_owned()]);
    let has_reasons = |package: &Package| {
        let mut on = package.dependencies.iter().filter(|on| !on.is_dev());
        package.name == HOME || on.any(|on| on.name == HOME)
    };
    let packages = workspace.packages.iter().filter(|one| has_reasons(one));
    let packages: BTreeSet<&str> = packages.map(|package| package.name.as_str()).collect();
    let product = (workspace.sources.iter())
        .filter(|source| !source.test_only && packages.contains(source.package.as_str()));
    for source in product {
        let is_below = layers::is_below_edges(&source.package);
        let read = read(&source.text, is_below);
        let at = |line, message| Finding::at(&source.path, line, message);
        if !DEFINITIONS.contains(&source.path.as_str()) {
            findings.extend(read.wrong.into_iter().map(|(line, wrong)| at(line, wrong)));
        }
        for named in read.named {
            findings.extend(differs(&named, &entries).map(|wrong| at(named.line, wrong)));
            used.insert(named.id);
        }
    }
    let unused = entries.keys().filter(|id| !used.contains(*id));
    findings.extend(unused.map(|id| Finding::new(CATALOGUE, format!("`{id}` is used nowhere"))));
    findings
}

/// Sentences that two ids have.
fn alike(entries: &BTreeMap<String, Sentence>) -> Vec<Finding> {
    let mut seen = BTreeMap::new();
    let mut findings = Vec::new();
    for (id, entry) in entries {
        let whole = (&entry.text, &entry.hint, &entry.fallback_hint);
        if let Some(other) = seen.insert(whole, id) {
            let message = format!("`{other}` and `{id}` have one sentence: use one id");
            findings.push(Finding::new(CATALOGUE, message));
        }
    }
    findings
}

/// Ids out of alphabetical order, in which people look for them.
fn unordered(text: &str) -> Option<Finding> {
    let ids = text.lines().filter_map(|line| line.strip_prefix('['));
    let ids: Vec<&str> = ids.map(|id| id.trim_end_matches(']')).collect();
    let pair = ids.windows(2).find(|pair| pair.first() > pair.last())?;
    let message = format!("`{}` stands behind `{}`", pair.last()?, pair.first()?);
    Some(Finding::new(CATALOGUE, message))
}

/// How a place in code differs from the catalogue.
fn differs(named: &Named, entries: &BTreeMap<String, Sentence>) -> Option<String> {
    let id = &named.id;
    let Some(entry) = entries.get(id) else {
        return Some(format!("`{id}` has no sentence in {CATALOGUE}"));
    };
    let texts = [
        Some(&entry.text),
        entry.hint.as_ref(),
        entry.fallback_hint.as_ref(),
    ];
    let wanted: BTreeSet<String> = texts
        .into_iter()
        .flatten()
        .flat_map(|text| places(text))
        .collect();
    let list = |names: &BTreeSet<String>| match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().cloned().collect::<Vec<_>>().join(", "),
    };
    (wanted != named.parameters).then(|| {
        format!(
            "`{id}` has other parameters here than in {CATALOGUE}: {} here, {} there",
            list(&named.parameters),
            list(&wanted)
        )
    })
}

/// The names in braces.
fn places(text: &str) -> Vec<String> {
    let behind = text.split('{').skip(1);
    let names = behind.filter_map(|rest| rest.split_once('}'));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Reads a file. A file that imports other errors under that name makes those.
fn read(text: &str, is_below: bool) -> Read {
    let Ok(file) = syn::parse_file(text) else {
        return Read::default();
    };
    let mut imported = Vec::new();
    for item in &file.items {
        if let Item::Use(item) = item {
            imports(&item.tree, &mut Vec::new(), &mut imported);
        }
    }
    let foreign = imported.into_iter().filter(|import| {
        let root = import.root.as_str();
        ![ROOT, EDGE, "crate", "super"].contains(&root)
    });
    let mut reader = Reader {
        foreign: foreign.map(|import| import.name).collect(),
        is_below,
        read: Read::default(),
    };
    reader.visit_file(&file);
    reader.read
}

/// A name that a file imports, and the crate that it comes from.
struct Import {
    root: String,
    name: String,
}

fn imports(tree: &UseTree, path: &mut Vec<String>, into: &mut Vec<Import>) {
    let mut import = |name: String| {
        let root = path.first().cloned().unwrap_or_else(|| name.clone());
        into.push(Import { root, name });
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            imports(&inner.tree, path, into);
            path.pop();
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                imports(tree, path, into);
            }
        }
        UseTree::Name(name) => import(name.ident.to_string()),
        UseTree::Rename(name) => import(name.rename.to_string()),
        UseTree::Glob(_) => {}
    }
}

struct Reader {
    /// Names that other crates' items have in this file.
    foreign: BTreeSet<String>,
    /// Whether the file is below the edges, which alone know sentences.
    is_below: bool,
    read: Read,
}

impl Reader {
    /// The place of the id among the arguments, if this call makes an error or a reason.
    fn makes(&self, call: &ExprCall) -> Option<usize> {
        let (of, maker) = self.function(call)?;
        let mut makers = MAKERS.iter();
        makers
            .find(|(kind, name, _)| (*kind, *name) == (of.as_str(), maker.as_str()))
            .map(|(_, _, place)| *place)
    }

    /// The type and the function that are called, if the type may be one of ours.
    fn function(&self, call: &ExprCall) -> Option<(String, String)> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let names: Vec<String> = (path.path.segments.iter())
            .map(|segment| segment.ident.to_string())
            .collect();
        match names.as_slice() {
            [of, name] if !self.foreign.contains(of) => Some((of.clone(), name.clone())),
            [home, of, name] if home == ROOT => Some((of.clone(), name.clone())),
            _ => None,
        }
    }

    /// Notes the reason that a call makes, with these parameters.
    fn note(&mut self, call: &ExprCall, place: usize, parameters: BTreeSet<String>) {
        let line = call.span().start().line;
        match call.args.get(place).and_then(literal) {
            Some(id) if is_kebab(&id) => self.read.named.push(Named {
                id,
                parameters,
                line,
            }),
            Some(text) => self.wrong(
                line,
                &format!("{text:?} is no id in kebab-case: the sentence belongs in {CATALOGUE}"),
            ),
            None => self.wrong(
                line,
                "write the id as a literal here; `Error::of` takes a reason",
            ),
        }
    }

    fn wrong(&mut self, line: usize, message: &str) {
        self.read.wrong.push((line, message.to_owned()));
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !only_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Some(place) = self.makes(call) {
            self.note(call, place, BTreeSet::new());
        } else if self.is_below
            && self.function(call) == Some(("Reason".to_owned(), "text".to_owned()))
        {
            let line = call.span().start().line;
            self.wrong(line, "only the edges know sentences: give the reason an id");
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let mut parameters = BTreeSet::new();
        let (mut links, mut receiver) = (vec![call], &*call.receiver);
        while let Expr::MethodCall(inner) = receiver {
            links.push(inner);
            receiver = &inner.receiver;
        }
        for link in &links {
            parameters.extend(parameter(link));
        }
        match receiver {
            Expr::Call(made) if self.makes(made).is_some() => {
                let place = self.makes(made).unwrap_or_default();
                self.note(made, place, parameters);
                // The call is noted; only what it is made of is still to be read.
                made.args
                    .iter()
                    .for_each(|argument| self.visit_expr(argument));
                let arguments = links.iter().flat_map(|link| &link.args);
                arguments.for_each(|argument| self.visit_expr(argument));
            }
            _ if links.iter().any(|link| is_late(link)) => {
                let message = "give a reason its parameters where it is made, so that they can be compared with its sentence";
                self.wrong(call.span().start().line, message);
            }
            _ => visit::visit_expr_method_call(self, call),
        }
    }
}

/// The name of the parameter that a link of a chain adds.
fn parameter(link: &ExprMethodCall) -> Option<String> {
    match link.method.to_string().as_str() {
        "with" | "with_reason" => link.args.first().and_then(literal),
        "because" => Some("cause".to_owned()),
        _ => None,
    }
}

/// Whether a link adds a parameter to a reason that was made elsewhere.
fn is_late(link: &ExprMethodCall) -> bool {
    let adds = link.method == "with" || link.method == "with_reason";
    adds && link.args.len() == 2 && link.args.first().and_then(literal).is_some()
}

fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn is_kebab(id: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    id.split('-').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> BTreeMap<String, Sentence> {
        toml::from_str(text).unwrap()
    }

    /// What is wrong with this code below the edges, for a catalogue of two sentences.
    fn wrong(code: &str) -> Vec<String> {
        let entries = entries(
            "[node-late]\ntext = \"{node} is late\"\nhint = \"after {seconds} s\"\n[over]\ntext = \"it is over: {cause}\"\n",
        );
        let code = format!("use selfsame_driver::{{Error, Reason}};\nfn f() {{ {code} }}");
        let read = read(&code, true);
        let differing = read
            .named
            .iter()
            .filter_map(|named| differs(named, &entries));
        let wrong = read.wrong.iter().map(|(_, wrong)| wrong.clone());
        wrong.chain(differing).collect()
    }

    #[test]
    fn an_id_with_the_parameters_of_its_sentence_is_right() {
        for code in [
            "Error::new(kind, \"node-late\").with(\"node\", &a).with(\"seconds\", &3).with_code(\"x\");",
            "f(|| Error::of(kind, Reason::new(\"over\").because(error.reason)));",
            "Reason::new(\"over\").with_reason(\"cause\", Reason::new(\"node-late\").with(\"node\", &a).with(\"seconds\", &3));",
            "Error::internal(format!(\"for the log: {x}\"));",
        ] {
            assert_eq!(wrong(code), [""; 0], "{code}");
        }
    }

    #[test]
    fn prose_and_ids_that_are_no_literals_are_found() {
        for code in [
            "Error::bad_request(\"the node is late\");",
            "Error::not_found(\"Node-late\");",
            "selfsame_driver::Error::upstream(\"the node is late\");",
            "Reason::new(\"\");",
            "Error::new(kind, id);",
            "Error::new(kind, which.id());",
            "Reason::text(format!(\"{node} is late\"));",
            "error.with(\"node\", &a);",
        ] {
            assert_eq!(wrong(code).len(), 1, "{code}");
        }
    }

    #[test]
    fn an_id_without_a_sentence_or_with_other_parameters_is_found() {
        for code in [
            "Error::new(kind, \"unheard-of\");",
            "Error::new(kind, \"node-late\");",
            "Error::new(kind, \"node-late\").with(\"node\", &a);",
            "Error::new(kind, \"over\").because(a).with(\"node\", &a);",
            "f(Error::upstream(\"over\"));",
            "Reason::new(\"over\").because(Reason::new(\"node-late\"));",
        ] {
            assert_eq!(wrong(code).len(), 1, "{code}");
        }
    }

    #[test]
    fn the_errors_of_other_crates_and_those_of_tests_are_not_checked() {
        let foreign = "use selfsame_oauth::{Code, Error};\nfn f() { Error::new(code, reason) }";
        let tests = "#[cfg(test)]\nmod tests { fn f() { Error::bad_request(\"a b\") } }";
        let far = "fn f() { selfsame_oauth::Error::new(code, \"a b\") }";
        for code in [foreign, tests, far] {
            let read = read(code, true);
            assert!(read.named.is_empty() && read.wrong.is_empty(), "{code}");
        }
    }

    #[test]
    fn an_edge_may_have_sentences_of_its_own() {
        let code = "use selfsame_driver::Reason;\nfn f() { Reason::text(\"a b\") }";
        assert!(read(code, false).wrong.is_empty());
        assert_eq!(read(code, true).wrong.len(), 1);
    }

    #[test]
    fn two_ids_with_one_sentence_and_a_catalogue_in_disorder_are_found() {
        let same = "[a]\ntext = \"late\"\n\n[b]\ntext = \"late\"\n";
        let hinted = "[a]\ntext = \"late\"\n\n[b]\ntext = \"late\"\nhint = \"wait\"\n";
        assert_eq!(
            (alike(&entries(same)).len(), alike(&entries(hinted)).len()),
            (1, 0)
        );
        assert!(unordered(same).is_none());
        assert!(unordered("[b]\ntext = \"x\"\n[a]\ntext = \"y\"\n").is_some());
    }
}
