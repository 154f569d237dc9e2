//! The modules of a crate, what each defines, and what each uses of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{is_identifier, product_tokens};

/// How many re-exports are followed to the definition of a name.
const LONGEST_CHAIN: usize = 8;

/// The modules of one crate; the first is its root.
pub(crate) struct ModuleTree {
    modules: Vec<Module>,
}

/// One file of a crate.
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    code: ModuleCode,
}

/// What a file declares and mentions.
#[derive(Default)]
struct ModuleCode {
    child_names: Vec<String>,
    items: BTreeSet<String>,
    imports: Vec<Import>,
    paths: BTreeSet<Vec<String>>,
}

/// One name of a `use` declaration.
struct Import {
    /// The name in this file, or `*`.
    name: String,
    path: Vec<String>,
}

/// What a path leads to.
enum PathTarget {
    Module(usize),
    Item(usize, String),
}

/// The names that one module uses of another, by the numbers of both.
pub(crate) type Arrows = BTreeMap<(usize, usize), BTreeSet<String>>;

impl ModuleTree {
    /// Reads a crate from its root file.
    pub(crate) fn read(root: &Path) -> ModuleTree {
        let mut tree = ModuleTree { modules: Vec::new() };
        tree.add(root.to_owned(), None, root.parent().unwrap());
        tree
    }

    fn add(&mut self, file: PathBuf, parent: Option<usize>, folder: &Path) -> usize {
        let code = ModuleCode::read(&product_tokens(&fs::read_to_string(&file).unwrap()));
        let names = code.child_names.clone();
        let number = self.modules.len();
        self.modules.push(Module { file, parent, children: BTreeMap::new(), code });
        for name in names {
            let below = folder.join(&name);
            let file = Some(below.with_extension("rs")).filter(|file| file.exists());
            let child =
                self.add(file.unwrap_or_else(|| below.join("mod.rs")), Some(number), &below);
            self.modules[number].children.insert(name, child);
        }
        number
    }

    pub(crate) fn file(&self, module: usize) -> &Path {
        &self.modules[module].file
    }

    pub(crate) fn len(&self) -> usize {
        self.modules.len()
    }

    /// Returns what each module uses of the others. A module may use what its ancestors define.
    pub(crate) fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (from, module) in self.modules.iter().enumerate() {
            for import in &module.code.imports {
                // An imported module is an arrow only where something in it is named.
                let target = self.resolve(from, &import.path, LONGEST_CHAIN);
                match target {
                    Some(PathTarget::Module(_)) if import.name != "*" => {}
                    target => self.add_arrow(&mut arrows, from, target, "*"),
                }
            }
            for path in &module.code.paths {
                let target = self.resolve(from, path, LONGEST_CHAIN);
                self.add_arrow(&mut arrows, from, target, &path[path.len() - 1]);
            }
        }
        arrows
    }

    fn add_arrow(&self, arrows: &mut Arrows, from: usize, target: Option<PathTarget>, last: &str) {
        let (to, name) = match target {
            Some(PathTarget::Item(to, name)) => (to, name),
            Some(PathTarget::Module(to)) => (to, last.to_owned()),
            None => return,
        };
        if to != from && !self.is_ancestor(to, from) {
            arrows.entry((from, to)).or_default().insert(name);
        }
    }

    fn is_ancestor(&self, ancestor: usize, module: usize) -> bool {
        let mut parents = std::iter::successors(self.modules[module].parent, |module| {
            self.modules[*module].parent
        });
        parents.any(|parent| parent == ancestor)
    }

    /// Follows a path as it is written in the module `from`. Returns `None` for other crates.
    fn resolve(&self, from: usize, path: &[String], chain: usize) -> Option<PathTarget> {
        let chain = chain.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => PathTarget::Module(0),
            "self" => PathTarget::Module(from),
            "super" => PathTarget::Module(self.modules[from].parent?),
            name => self.lookup(from, name, chain)?,
        };
        let mut current = start;
        for name in rest {
            let PathTarget::Module(module) = current else { return Some(current) };
            current = if name == "super" {
                PathTarget::Module(self.modules[module].parent?)
            } else {
                self.lookup(module, name, chain)
                    .unwrap_or_else(|| PathTarget::Item(module, name.clone()))
            };
        }
        Some(current)
    }

    /// Finds a name in a module: a child, an item, or something imported there.
    fn lookup(&self, module: usize, name: &str, chain: usize) -> Option<PathTarget> {
        let chain = chain.checked_sub(1)?;
        let Module { children, code, .. } = &self.modules[module];
        if let Some(child) = children.get(name) {
            return Some(PathTarget::Module(*child));
        }
        if code.items.contains(name) {
            return Some(PathTarget::Item(module, name.to_owned()));
        }
        if let Some(import) = code.imports.iter().find(|import| import.name == name) {
            return self.resolve(module, &import.path, chain);
        }
        let globs = code.imports.iter().filter(|import| import.name == "*");
        let mut found = globs.filter_map(|glob| match self.resolve(module, &glob.path, chain)? {
            PathTarget::Module(module) => self.lookup(module, name, chain),
            PathTarget::Item(..) => None,
        });
        found.next()
    }
}

impl ModuleCode {
    fn read(tokens: &[&str]) -> ModuleCode {
        let mut code = ModuleCode::default();
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let next = tokens.get(at + 1).copied().unwrap_or_default();
            match *token {
                "{" => depth += 1,
                "}" => depth -= 1,
                "use" if next != "<" => {
                    at += 1 + code.read_imports(&tokens[at + 1..], &[]);
                    continue;
                }
                "mod" if tokens.get(at + 2) == Some(&";") => code.child_names.push(next.to_owned()),
                "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" | "mod"
                    if depth == 0 =>
                {
                    code.items.insert(next.to_owned());
                }
                token if is_identifier(token) && next == "::" => {
                    at += code.read_path(&tokens[at..]);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        code
    }

    /// Reads one tree of a `use` declaration and returns how many tokens it has.
    fn read_imports(&mut self, tokens: &[&str], prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let mut at = 0;
        loop {
            match tokens[at] {
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at += self.read_imports(&tokens[at..], &path);
                        at += usize::from(tokens[at] == ",");
                    }
                    return at + 1;
                }
                "*" => {
                    self.imports.push(Import { name: "*".to_owned(), path });
                    return at + 1;
                }
                "::" => {}
                "self" if !path.is_empty() => {}
                name => path.push(name.to_owned()),
            }
            at += 1;
            match tokens[at] {
                "as" => {
                    self.imports.push(Import { name: tokens[at + 1].to_owned(), path });
                    return at + 2;
                }
                "," | "}" | ";" => {
                    let name = path.last().cloned().unwrap_or_default();
                    self.imports.push(Import { name, path });
                    return at;
                }
                _ => {}
            }
        }
    }

    /// Reads a path that occurs in code and returns how many tokens it has.
    fn read_path(&mut self, tokens: &[&str]) -> usize {
        let mut path = vec![tokens[0].to_owned()];
        let mut at = 1;
        while tokens.get(at) == Some(&"::") && tokens.get(at + 1).is_some_and(|t| is_identifier(t))
        {
            path.push(tokens[at + 1].to_owned());
            at += 2;
        }
        // What follows is `::<`: the path ends there.
        at += usize::from(tokens.get(at) == Some(&"::"));
        self.paths.insert(path);
        at
    }
}
