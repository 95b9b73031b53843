//! The facts about one Rust file that `tidy` checks: its length without tests, its functions, and the paths it names.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Attribute, Item, UseTree, Visibility,
    spanned::Spanned,
    visit::{self, Visit},
};

/// Methods that compare their receiver with their argument.
const COMPARING: [&str; 5] = ["contains", "starts_with", "ends_with", "strip_prefix", "eq"];

/// One Rust file. Line numbers start at 1.
pub struct Source {
    /// The package it belongs to.
    pub package: String,
    /// Its path from the root of the checkout.
    pub path: String,
    pub text: String,
    /// Whether the whole file is left out of the product: a file under `tests`, or a module only of tests.
    pub test_only: bool,
    /// The lines of `//!` at the top of the file.
    pub module_doc: Vec<String>,
    /// The number of lines, without modules and functions that are compiled only for tests.
    pub lines: usize,
    pub functions: Vec<Function>,
    /// Paths that code outside tests names, written with `::`, and their lines.
    pub paths: Vec<(String, usize)>,
    /// Methods that code outside tests calls, and their lines.
    pub methods: Vec<(String, usize)>,
    /// Lines outside tests with `async` or `await`.
    pub asynchronous: Vec<usize>,
    /// Public items at the top level of the file, and public glob imports.
    pub public_items: usize,
    pub public_globs: Vec<usize>,
    /// Where a function outside tests takes a tuple as a parameter, by value or by reference.
    pub tuple_parameters: Vec<usize>,
    /// The types and traits that code outside tests defines, and their lines.
    pub types: Vec<(String, usize)>,
    /// The texts in code outside tests, without documentation.
    pub literals: Vec<Literal>,
    /// Files that this file declares as `#[cfg(test)] mod name;`.
    test_modules: Vec<String>,
}

/// A text in code: a string literal.
#[derive(Debug, Eq, PartialEq)]
pub struct Literal {
    pub text: String,
    pub line: usize,
    /// Whether something is compared with it: it is a pattern, an operand of `==` or `!=`, an argument of `contains` or
    /// the like, or an entry of a list.
    pub is_compared: bool,
}

/// One function outside tests.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub line: usize,
    /// Lines of code from the signature to the closing brace, without blank lines and comments.
    pub lines: usize,
    pub is_async: bool,
}

impl Source {
    /// Parses a file of a package whose folder is `folder`.
    pub fn parse(package: &str, folder: &str, path: &str, text: &str) -> Result<Self, String> {
        let file = syn::parse_file(text)
            .map_err(|error| format!("{path}:{}: {error}", error.span().start().line))?;
        let lines: Vec<&str> = text.lines().collect();
        let mut reader = Reader::new(&lines);
        reader.visit_file(&file);
        let public: Vec<&Item> = file.items.iter().filter(|item| is_public(item)).collect();
        let inside = path.strip_prefix(folder).unwrap_or(path);
        Ok(Self {
            package: package.to_owned(),
            path: path.to_owned(),
            text: text.to_owned(),
            test_only: !inside.starts_with("/src/") && inside != "/build.rs",
            module_doc: module_doc(&lines),
            lines: lines.len().saturating_sub(reader.cut.len()),
            public_items: public.iter().map(|item| weight(item)).sum(),
            public_globs: public
                .iter()
                .filter(|item| is_glob(item))
                .map(line)
                .collect(),
            functions: reader.functions,
            paths: reader.paths,
            methods: reader.methods,
            asynchronous: reader.asynchronous,
            tuple_parameters: reader.tuple_parameters,
            types: reader.types,
            literals: reader.literals,
            test_modules: reader
                .test_modules
                .iter()
                .map(|name| child(path, name))
                .collect(),
        })
    }
}

/// Marks the files that other files declare as modules only of tests, and the files below them.
pub fn mark_tests(sources: &mut [Source]) {
    let stems: BTreeSet<String> = sources
        .iter()
        .flat_map(|source| source.test_modules.iter().cloned())
        .collect();
    for source in sources {
        let path = source.path.trim_end_matches(".rs");
        source.test_only |= stems.iter().any(|stem| {
            path.strip_prefix(stem.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    }
}

/// The path, without `.rs`, of the module `name` that the file at `path` declares.
fn child(path: &str, name: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let folder = ["/lib", "/main"]
        .iter()
        .find_map(|root| stem.strip_suffix(root))
        .unwrap_or(stem);
    format!("{folder}/{name}")
}

fn module_doc(lines: &[&str]) -> Vec<String> {
    let head = lines.iter().map_while(|line| line.strip_prefix("//!"));
    head.map(|line| line.trim().to_owned()).collect()
}

fn is_public(item: &Item) -> bool {
    let visibility = match item {
        Item::Const(item) => &item.vis,
        Item::Enum(item) => &item.vis,
        Item::ExternCrate(item) => &item.vis,
        Item::Fn(item) => &item.vis,
        Item::Mod(item) => &item.vis,
        Item::Static(item) => &item.vis,
        Item::Struct(item) => &item.vis,
        Item::Trait(item) => &item.vis,
        Item::TraitAlias(item) => &item.vis,
        Item::Type(item) => &item.vis,
        Item::Union(item) => &item.vis,
        Item::Use(item) => &item.vis,
        Item::Macro(item) => return exported(&item.attrs),
        _ => return false,
    };
    matches!(visibility, Visibility::Public(_))
}

fn exported(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("macro_export"))
}

/// The number of names that an item exports.
fn weight(item: &Item) -> usize {
    let Item::Use(item) = item else { return 1 };
    let mut leaves = Vec::new();
    flatten(&item.tree, "", &mut leaves);
    leaves.len()
}

fn is_glob(item: &Item) -> bool {
    let Item::Use(item) = item else { return false };
    let mut leaves = Vec::new();
    flatten(&item.tree, "", &mut leaves);
    leaves.iter().any(|(path, _)| path.ends_with("::*"))
}

fn line(spanned: &impl Spanned) -> usize {
    spanned.span().start().line
}

/// The paths that a `use` imports.
fn flatten(tree: &UseTree, prefix: &str, into: &mut Vec<(String, usize)>) {
    let join = |name: &str| {
        if prefix.is_empty() {
            name.to_owned()
        } else {
            format!("{prefix}::{name}")
        }
    };
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &join(&path.ident.to_string()), into),
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| flatten(tree, prefix, into)),
        UseTree::Glob(glob) => into.push((join("*"), line(glob))),
        UseTree::Name(name) if name.ident == "self" => into.push((prefix.to_owned(), line(name))),
        UseTree::Name(name) => into.push((join(&name.ident.to_string()), line(name))),
        UseTree::Rename(rename) if rename.ident == "self" => {
            into.push((prefix.to_owned(), line(rename)))
        }
        UseTree::Rename(rename) => into.push((join(&rename.ident.to_string()), line(rename))),
    }
}

/// Visits a file and skips everything that is compiled only for tests.
struct Reader<'a> {
    text: &'a [&'a str],
    /// Lines that belong to tests.
    cut: BTreeSet<usize>,
    functions: Vec<Function>,
    paths: Vec<(String, usize)>,
    methods: Vec<(String, usize)>,
    asynchronous: Vec<usize>,
    tuple_parameters: Vec<usize>,
    types: Vec<(String, usize)>,
    literals: Vec<Literal>,
    /// Whether literals are now compared.
    is_comparing: bool,
    test_modules: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [&'a str]) -> Self {
        Self {
            text,
            cut: BTreeSet::new(),
            functions: Vec::new(),
            paths: Vec::new(),
            methods: Vec::new(),
            asynchronous: Vec::new(),
            tuple_parameters: Vec::new(),
            types: Vec::new(),
            literals: Vec::new(),
            is_comparing: false,
            test_modules: Vec::new(),
        }
    }

    fn cut(&mut self, item: &impl Spanned) {
        let span = item.span();
        self.cut.extend(span.start().line..=span.end().line);
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (line(signature), block.span().end().line);
        let body = self
            .text
            .get(first.saturating_sub(1)..last)
            .unwrap_or_default();
        let code = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        self.functions.push(Function {
            name: signature.ident.to_string(),
            line: first,
            lines: body.iter().filter(code).count(),
            is_async: signature.asyncness.is_some(),
        });
    }

    /// Finds paths in a macro's input, which is not parsed: identifiers joined by `::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = String::new();
        let mut start = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if ident == "async" || ident == "await" {
                        self.asynchronous.push(line(&ident));
                    }
                    if colons == 2 && !path.is_empty() {
                        path.push_str("::");
                    } else {
                        self.finish(&mut path, start);
                        start = line(&ident);
                    }
                    path.push_str(&ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.finish(&mut path, start);
                    colons = 0;
                    self.tokens(group.stream());
                }
                TokenTree::Literal(literal) => {
                    self.finish(&mut path, start);
                    colons = 0;
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.literal(&text);
                    }
                }
                TokenTree::Punct(_) => {
                    self.finish(&mut path, start);
                    colons = 0;
                }
            }
        }
        self.finish(&mut path, start);
    }

    fn literal(&mut self, literal: &syn::LitStr) {
        self.literals.push(Literal {
            text: literal.value(),
            line: line(literal),
            is_compared: self.is_comparing,
        });
    }

    /// Visits something in which literals are compared or not.
    fn comparing(&mut self, is_comparing: bool, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_comparing, is_comparing);
        visit(self);
        self.is_comparing = before;
    }

    /// Visits an expression that is compared. Literals deeper within it are not.
    fn compared(&mut self, expression: &syn::Expr) {
        match expression {
            syn::Expr::Lit(_) => self.comparing(true, |reader| reader.visit_expr(expression)),
            syn::Expr::Reference(reference) => self.compared(&reference.expr),
            syn::Expr::Tuple(tuple) => tuple.elems.iter().for_each(|one| self.compared(one)),
            _ => self.visit_expr(expression),
        }
    }

    fn finish(&mut self, path: &mut String, line: usize) {
        if !path.is_empty() {
            self.paths.push((std::mem::take(path), line));
        }
    }
}

/// Whether an item with these attributes is compiled only for tests.
pub fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let is_test = path
            .segments
            .last()
            .is_some_and(|segment| segment.ident == "test");
        let condition = attribute
            .meta
            .require_list()
            .map(|list| list.tokens.to_string());
        let words = condition.unwrap_or_default();
        let mut words = words.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let names_test =
            words.clone().any(|word| word == "test") && !words.any(|word| word == "not");
        is_test || (path.is_ident("cfg") && names_test)
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !only_for_tests(&item.attrs) {
            return visit::visit_item_mod(self, item);
        }
        self.cut(item);
        if item.content.is_none() {
            self.test_modules.push(item.ident.to_string());
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !only_for_tests(&item.attrs) {
            self.types.push((item.ident.to_string(), line(&item.ident)));
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if !only_for_tests(&item.attrs) {
            self.types.push((item.ident.to_string(), line(&item.ident)));
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if !only_for_tests(&item.attrs) {
            self.types.push((item.ident.to_string(), line(&item.ident)));
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if !only_for_tests(&item.attrs) {
            self.types.push((item.ident.to_string(), line(&item.ident)));
        }
        visit::visit_item_type(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if only_for_tests(&item.attrs) {
            return self.cut(item);
        }
        self.function(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if only_for_tests(&item.attrs) {
            return self.cut(item);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if only_for_tests(&item.attrs) {
            return self.cut(item);
        }
        self.function(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        let compares = COMPARING.contains(&name.as_str());
        self.methods.push((name, line(&call.method)));
        if !compares {
            return visit::visit_expr_method_call(self, call);
        }
        self.visit_expr(&call.receiver);
        call.args
            .iter()
            .for_each(|argument| self.compared(argument));
    }

    fn visit_expr_binary(&mut self, item: &'ast syn::ExprBinary) {
        match item.op {
            syn::BinOp::Eq(_) | syn::BinOp::Ne(_) => {
                self.compared(&item.left);
                self.compared(&item.right);
            }
            _ => visit::visit_expr_binary(self, item),
        }
    }

    fn visit_expr_array(&mut self, item: &'ast syn::ExprArray) {
        item.elems.iter().for_each(|element| self.compared(element));
    }

    fn visit_pat(&mut self, item: &'ast syn::Pat) {
        self.comparing(true, |reader| visit::visit_pat(reader, item));
    }

    fn visit_lit_str(&mut self, item: &'ast syn::LitStr) {
        self.literal(item);
    }

    fn visit_attribute(&mut self, item: &'ast Attribute) {
        if !item.path().is_ident("doc") {
            visit::visit_attribute(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if only_for_tests(&item.attrs) {
            return self.cut(item);
        }
        flatten(&item.tree, "", &mut self.paths);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        self.paths.push((names.join("::"), line(path)));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let compares = item.path.is_ident("matches");
        self.comparing(compares, |reader| reader.tokens(item.tokens.clone()));
        visit::visit_macro(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.asyncness.is_some() {
            self.asynchronous.push(line(signature));
        }
        if signature.inputs.iter().any(is_tuple) {
            self.tuple_parameters.push(line(signature));
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_async(&mut self, item: &'ast syn::ExprAsync) {
        self.asynchronous.push(line(item));
        visit::visit_expr_async(self, item);
    }

    fn visit_expr_await(&mut self, item: &'ast syn::ExprAwait) {
        self.asynchronous.push(line(item));
        visit::visit_expr_await(self, item);
    }
}

/// Whether a parameter is a tuple of two values or more, or a reference to one.
fn is_tuple(parameter: &syn::FnArg) -> bool {
    let syn::FnArg::Typed(parameter) = parameter else {
        return false;
    };
    let mut kind = &*parameter.ty;
    while let syn::Type::Reference(reference) = kind {
        kind = &reference.elem;
    }
    matches!(kind, syn::Type::Tuple(tuple) if tuple.elems.len() > 1)
}

#[cfg(test)]
mod tests;
