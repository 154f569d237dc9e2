//! Functions have names that can be searched for, and are short enough to be read.

use std::collections::BTreeMap;
use std::fs;

use super::source::{is_identifier, product_tokens};
use super::type_names::crate_of;
use super::{assert_none, is_test, name, page_modules, product_sources};

/// How many of a hundred functions may have a name of one word.
const MOST_ONE_WORD: usize = 25;
/// How many of a hundred may in any one crate.
const MOST_ONE_WORD_IN_A_CRATE: usize = 38;
/// How many free functions of a crate may share a name.
const MOST_NAMESAKES: usize = 4;
/// The most lines that a function may have.
const LONGEST_FUNCTION: usize = 80;

/// A function of the product.
struct DefinedFunction {
    name: String,
    owner: FunctionOwner,
    /// How many lines it has, from its name to its end.
    lines: usize,
}

/// What a function belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FunctionOwner {
    /// A module, or another function.
    Module,
    /// A type or a trait.
    Type,
    /// The implementation of a trait, which has named it.
    TraitImplementation,
}

#[test]
fn most_functions_have_names_of_several_words() {
    let (mut of_crates, mut all) = (BTreeMap::<String, [usize; 2]>::new(), [0, 0]);
    for (file, functions) in product_functions() {
        let counts = of_crates.entry(crate_of(&file).to_owned()).or_default();
        for function in functions.iter().filter(|it| it.owner != FunctionOwner::TraitImplementation)
        {
            let is_one_word = !function.name.trim_matches('_').contains('_');
            for [one_word, named] in [&mut *counts, &mut all] {
                *one_word += usize::from(is_one_word);
                *named += 1;
            }
        }
    }
    let limits =
        of_crates.into_iter().map(|(krate, counts)| (krate, counts, MOST_ONE_WORD_IN_A_CRATE));
    let limits = limits.chain([("the product".to_owned(), all, MOST_ONE_WORD)]);
    let wrong = limits.filter(|(_, [one_word, named], most)| one_word * 100 > named * most);
    let wrong = wrong.map(|(owner, [one_word, named], most)| {
        format!(
            "{one_word} of {named} functions in {owner} have a name of one word, more than {most} \
             %. Name a function by a verb and an object (`read_settings_file`) unless its type \
             says the rest."
        )
    });
    assert_none(&wrong.collect::<Vec<_>>());
}

#[test]
fn few_free_functions_of_a_crate_share_a_name() {
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (file, functions) in product_functions() {
        let free = functions.into_iter().filter(|it| it.owner == FunctionOwner::Module);
        for function in free {
            let key = (crate_of(&file).to_owned(), function.name);
            places.entry(key).or_default().push(file.clone());
        }
    }
    let shared = places.into_iter().filter(|(_, files)| files.len() > MOST_NAMESAKES);
    let shared = shared.map(|((krate, name), files)| {
        format!(
            "{krate} has {} functions `{name}`: name each after what it works on ({})",
            files.len(),
            files.join(", ")
        )
    });
    assert_none(&shared.collect::<Vec<_>>());
}

#[test]
fn functions_stay_short() {
    let mut long = Vec::new();
    for (file, functions) in product_functions() {
        for DefinedFunction { name, lines, .. } in functions {
            if lines > LONGEST_FUNCTION {
                long.push(format!("{file}: `{name}` has {lines} lines: split it"));
            }
        }
    }
    assert_none(&long);
}

#[test]
fn functions_of_the_page_stay_short() {
    let mut long = Vec::new();
    for path in page_modules().into_iter().filter(|path| !is_test(&name(path))) {
        for (line, lines) in page_functions(&fs::read_to_string(&path).unwrap()) {
            if lines > LONGEST_FUNCTION {
                long.push(format!(
                    "{}:{line}: a function has {lines} lines: split it",
                    name(&path)
                ));
            }
        }
    }
    assert_none(&long);
}

/// Returns the line on which each function of a module of the page begins, and how many it has. It
/// ends at the first brace that is indented as its first line: so the page is formatted.
fn page_functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| opens_page_function(line)) {
        let is_end = |end: &&str| indent(end) == indent(line) && end.trim_start().starts_with('}');
        let rest = lines[at + 1..].iter().position(is_end);
        found.push((at + 1, rest.map_or(lines.len() - at, |rest| rest + 2)));
    }
    found
}

fn opens_page_function(line: &str) -> bool {
    let code = line.trim();
    let first = code.split([' ', '(']).next().unwrap_or_default();
    let is_block = ["if", "for", "while", "switch", "}"].contains(&first);
    let is_function = code.contains("function ") || code.ends_with("=> {");
    is_function && code.ends_with('{') || code.ends_with(") {") && !is_block
}

#[test]
fn functions_of_the_page_are_found_with_their_length() {
    let text = "export function a(b) {\n  if (b) {\n  }\n  const c = () => {\n  };\n}\n\
                class D {\n  async e() {\n    return 1;\n  }\n}\n";
    assert_eq!(page_functions(text), [(1, 6), (4, 2), (8, 3)]);
}

/// Returns the functions of each file of the product.
fn product_functions() -> Vec<(String, Vec<DefinedFunction>)> {
    let sources = product_sources();
    // What only tests use may be named after the tests.
    let product = sources.into_iter().filter(|(file, _)| !file.starts_with("crates/testkit/"));
    product.map(|(file, text)| (file, functions_in(&text))).collect()
}

fn functions_in(text: &str) -> Vec<DefinedFunction> {
    let tokens = product_tokens(text);
    let line_of = |token: &str| {
        let at = token.as_ptr().addr() - text.as_ptr().addr();
        text[..at].matches('\n').count()
    };
    let mut found = Vec::new();
    // Who owns the functions in each block that is open.
    let mut owners = vec![FunctionOwner::Module];
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match *token {
            "impl" | "trait" if is_item_start(&tokens[..at]) => {
                let Some(len) = tokens[at..].iter().position(|token| *token == "{") else { break };
                // `for<'a>` is part of a type.
                let mut pairs = tokens[at..at + len].windows(2);
                let names_trait = pairs.any(|pair| pair[0] == "for" && pair[1] != "<");
                let is_implementation = *token == "impl" && names_trait;
                owners.push(if is_implementation {
                    FunctionOwner::TraitImplementation
                } else {
                    FunctionOwner::Type
                });
                at += len;
            }
            "fn" if tokens.get(at + 1).is_some_and(|next| is_identifier(next)) => {
                let end = at + function_len(&tokens[at..]);
                found.push(DefinedFunction {
                    name: tokens[at + 1].to_owned(),
                    owner: owners.last().copied().unwrap_or(FunctionOwner::Module),
                    lines: line_of(tokens[end - 1]) - line_of(token) + 1,
                });
                at += 1;
            }
            "{" => owners.push(FunctionOwner::Module),
            "}" => drop(owners.pop()),
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns true if an item may begin after these tokens, and not a type such as `impl Fn()`.
fn is_item_start(before: &[&str]) -> bool {
    matches!(before.last(), None | Some(&("}" | ";" | "]" | "{" | "pub" | "unsafe" | ")")))
}

/// Returns how many tokens the function has that `tokens` start with.
fn function_len(tokens: &[&str]) -> usize {
    let (mut inner, mut depth) = (0_usize, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" => inner += 1,
            ")" | "]" => inner -= 1,
            // One that a trait only declares.
            ";" if inner == 0 && depth == 0 => return at + 1,
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if depth == 0 && inner == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

#[test]
fn functions_are_found_with_their_owner_and_length() {
    use FunctionOwner::{Module, TraitImplementation, Type};

    let text = "
        fn a(b: [u8; 2]) -> impl Fn() {
            fn inner() {}
        }
        impl<T> A<T> { pub fn b(&self) { if x { y } }
            const fn c() {} }
        impl<F> C<F> where F: for<'a> Fn(&'a str) { fn g(&self) {} }
        impl From<A> for B { fn from(a: A) -> B { match a { _ => {} } } }
        pub(crate) trait T { fn d(&self); fn e(&self) -> [u8; 3] {
            z }
        }
        type F = fn(u8);
        #[cfg(test)]
        fn of_tests() {}
        fn f() {}
    ";
    let found = functions_in(text);
    let found: Vec<_> = found.iter().map(|it| (&*it.name, it.owner, it.lines)).collect();
    assert_eq!(
        found,
        [
            ("a", Module, 3),
            ("inner", Module, 1),
            ("b", Type, 1),
            ("c", Type, 1),
            ("g", Type, 1),
            ("from", TraitImplementation, 1),
            ("d", Type, 1),
            ("e", Type, 2),
            ("f", Module, 1),
        ]
    );
}
