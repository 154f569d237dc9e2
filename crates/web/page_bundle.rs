//! Packs the page: all modules into one, and all style sheets but the one for the dark into one.
//!
//! A browser and the window of the desktop shell fetch the page in a few requests that way, and not
//! in one for each file. A module stays what it is in `ui/`, under its own name: it becomes a
//! function that returns its exports, its imports become calls, and comments and needless blanks
//! are left out. `ui/` itself needs no build: the tests of the modules use it as it is.
//!
//! The build scripts of both hosts use this file.

#[path = "page_bundle/compact_script.rs"]
mod compact_script;
#[path = "page_bundle/compact_style.rs"]
pub(crate) mod compact_style;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use compact_script::compact_script;
use compact_style::compact_style;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// The module with which the page begins.
const ENTRY: &str = "app.js";
/// The module that only a window of the desktop shell needs. It and what it alone imports are in a
/// file of their own.
const WINDOW: &str = "desktop.js";
/// The module of others that is loaded after the page, because the page is drawn without it.
const PARSER: &str = "vendor/markdown-it/markdown-it.js";
/// The style sheet that an attribute of its element switches on and off.
const DARK: &str = "style/dark.css";
const INDEX: &str = "index.html";

/// Returns the files of the page, each with its path below `/ui/`.
pub(crate) fn pack_page(ui: &Path) -> Outcome<Vec<(&'static str, String)>> {
    let read = |name: &str| {
        let source = fs::read_to_string(ui.join(name))
            .map_err(|error| format!("cannot read ui/{name}: {error}"))?;
        let compact = match name.rsplit_once('.') {
            Some((_, "js")) => compact_script(&source),
            Some((_, "css")) => compact_style(&source),
            _ => Ok(source),
        };
        compact.map_err(|error| format!("cannot pack ui/{name}: {error}"))
    };
    let mut bundle = ModuleBundle { read: &read, modules: BTreeMap::new(), order: Vec::new() };
    bundle.add_module(ENTRY, &mut Vec::new())?;
    let entry = bundle.take_entry();
    bundle.add_module(WINDOW, &mut Vec::new())?;
    let window = bundle.take_window();
    let (index, style) = join_style_sheets(&read(INDEX)?, &read)?;
    Ok(vec![
        (ENTRY, entry),
        (WINDOW, window),
        (INDEX, index),
        ("style.css", style),
        (DARK, read(DARK)?),
        (PARSER, read(PARSER)?),
    ])
}

/// The modules of the page, each as a function.
struct ModuleBundle<'a> {
    read: &'a dyn Fn(&str) -> Result<String, String>,
    /// The code of the modules, by their names.
    modules: BTreeMap<String, String>,
    /// The names of those that are in no file yet; a module comes after those that it imports.
    order: Vec<String>,
}

impl ModuleBundle<'_> {
    /// Adds a module after everything that it imports. `path` leads to it.
    fn add_module(&mut self, name: &str, path: &mut Vec<String>) -> Outcome<()> {
        if path.iter().any(|above| above == name) {
            return Err(format!("ui/{name} imports itself: {}", path.join(", ")).into());
        }
        if self.modules.contains_key(name) {
            return Ok(());
        }
        path.push(name.to_owned());
        let module = Module::from_source(name, &(self.read)(name)?)?;
        for import in &module.imports {
            self.add_module(import, path)?;
        }
        path.pop();
        self.modules.insert(name.to_owned(), module.code);
        self.order.push(name.to_owned());
        // What is imported later may import this module.
        for import in &module.later {
            self.add_module(import, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Returns the file with which the page begins. Each module runs when it is first imported.
    /// `load` is exported for tests, `defined` for the file of the window.
    fn take_entry(&mut self) -> String {
        let mut text = String::from(
            "const defined$={},loaded$={};\n\
             const load$=(name)=>(loaded$[name]??=defined$[name]());\n\
             export{defined$ as defined,load$ as load};\n",
        );
        text += &self.take_definitions();
        text + self.modules.get(ENTRY).map_or("", String::as_str)
    }

    /// Returns the file of the window.
    fn take_window(&mut self) -> String {
        let import = "import { defined as defined$, load as load$ } from \"/ui/app.js\";\n";
        import.to_owned() + &self.take_definitions()
    }

    fn take_definitions(&mut self) -> String {
        let mut text = String::new();
        for name in self.order.drain(..).filter(|name| name != ENTRY) {
            let _ = write!(text, "defined$[{name:?}]=()=>{{\n{}}};\n", self.modules[&name]);
        }
        text
    }
}

/// A module as a part of the bundle.
struct Module {
    code: String,
    imports: Vec<String>,
    /// The modules that it imports when it needs them.
    later: Vec<String>,
}

impl Module {
    fn from_source(name: &str, source: &str) -> Outcome<Self> {
        let (mut code, mut imports, mut exports) = (String::new(), Vec::new(), Vec::new());
        let mut rest = source;
        while let Some((statement, after)) = import_statement(rest) {
            let (names, from) = statement;
            let from = resolve_import(name, from)?;
            let names = names.replace(" as ", ":");
            let _ = writeln!(code, "const{{{names}}}=load$({from:?});");
            imports.push(from);
            rest = after;
        }
        for line in rest.trim_start().lines() {
            code += &strip_export(line, &mut exports);
            code.push('\n');
        }
        let mut later = Vec::new();
        let code = with_later_imports(name, &code, &mut later)?;
        let code =
            if name == ENTRY { code } else { format!("{code}return{{{}}};\n", exports.join(",")) };
        if code.contains("\nimport ") || code.contains("\nexport ") {
            return Err(format!("ui/{name} imports or exports in a form that is not packed").into());
        }
        Ok(Self { code, imports, later })
    }
}

/// Splits the import at the beginning of a text off: its names, and where they come from.
fn import_statement(text: &str) -> Option<((&str, &str), &str)> {
    let text = text.trim_start();
    let rest = text.strip_prefix("import")?.trim_start().strip_prefix('{')?;
    let (names, rest) = rest.split_once('}')?;
    let rest = rest.trim_start().strip_prefix("from")?.trim_start().strip_prefix('"')?;
    let (from, rest) = rest.split_once('"')?;
    Some(((names, from), rest.strip_prefix(';').unwrap_or(rest)))
}

/// Returns a line without its export, and notes what it exports.
fn strip_export(line: &str, exports: &mut Vec<String>) -> String {
    // Modules of others export everything at their end.
    if let Some((before, list)) = line.rsplit_once("export{") {
        let list = list.trim_end_matches([';', '}']);
        exports.extend(list.split(',').map(|name| match name.split_once(" as ") {
            Some((own, name)) => format!("{name}:{own}"),
            None => name.to_owned(),
        }));
        return before.to_owned();
    }
    let Some(declared) = line.strip_prefix("export ") else { return line.to_owned() };
    let words = declared.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
    let keywords = ["async", "function", "class", "const"];
    exports.extend(
        words
            .filter(|word| !word.is_empty())
            .find(|word| !keywords.contains(word))
            .map(str::to_owned),
    );
    declared.to_owned()
}

/// Replaces imports that are calls.
fn with_later_imports(name: &str, code: &str, later: &mut Vec<String>) -> Outcome<String> {
    let mut text = String::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("import(\"") {
        let (from, after) = after.split_once("\")").ok_or("an import without an end")?;
        text += before;
        rest = after;
        let import = match resolve_import(name, from)?.as_str() {
            PARSER => format!("import(\"/ui/{PARSER}\")"),
            WINDOW => format!("import(\"/ui/{WINDOW}\").then(()=>load$({WINDOW:?}))"),
            from => {
                later.push(from.to_owned());
                format!("Promise.resolve().then(()=>load$({from:?}))")
            }
        };
        text += &import;
    }
    Ok(text + rest)
}

/// Returns the name of a module that another one imports.
fn resolve_import(importer: &str, path: &str) -> Outcome<String> {
    let folder = importer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop().ok_or_else(|| format!("{path} leads out of ui/"))?),
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Returns the page with one style sheet in place of many, and that sheet.
fn join_style_sheets(
    index: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Outcome<(String, String)> {
    let (mut page, mut style) = (String::new(), String::new());
    for line in index.lines() {
        let sheet = line.split_once("href=\"/ui/").and_then(|(_, rest)| rest.split_once('"'));
        let sheet = sheet.map(|(name, _)| name).filter(|name| *name != DARK);
        match sheet {
            Some(name) if name.starts_with("style/") => {
                if style.is_empty() {
                    page += "    <link rel=\"stylesheet\" href=\"/ui/style.css\">\n";
                }
                style += &read(name)?;
            }
            // Its module is in the bundle.
            Some(_) => {}
            None => {
                page += line;
                page.push('\n');
            }
        }
    }
    Ok((page, style))
}

#[cfg(test)]
#[path = "page_bundle/tests.rs"]
mod tests;
