//! The tables in the guide: made by running agents, and compared.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use expect_test::expect_file;

use crate::Start;

/// How many agents run at once.
const AT_ONCE: usize = 4;

/// One table of the guide.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it is called in the document.
    pub(crate) name: &'static str,
    /// What its columns are called, but the first.
    pub(crate) columns: &'static [&'static str],
    pub(crate) starts: &'static [Start],
    /// Runs one row; returns `None` where the agent is absent.
    pub(crate) row: fn(Start) -> Option<Vec<&'static str>>,
}

impl Table {
    fn head(&self) -> String {
        let line = "---|".repeat(self.columns.len());
        format!("| started as | {} |\n|---|{line}\n", self.columns.join(" | "))
    }
}

/// Runs all rows and compares the tables in the guide with what came of them; `UPDATE_EXPECT=1`
/// writes them. Where an agent is absent nothing is compared.
pub(crate) fn compare(tables: &[Table]) {
    let jobs = tables.iter().enumerate();
    let jobs = jobs.flat_map(|(at, table)| table.starts.iter().map(move |start| (at, *start)));
    let jobs: Vec<(usize, Start)> = jobs.collect();
    let next = Mutex::new(jobs.iter().enumerate());
    let rows = Mutex::new(vec![String::new(); jobs.len()]);
    let work = || {
        loop {
            let job = next.lock().unwrap().next();
            let Some((number, (table, start))) = job else { break };
            let Some(cells) = (tables[*table].row)(*start) else { break };
            let line = format!("| {} | {} |\n", start.shown, cells.join(" | "));
            rows.lock().unwrap()[number] = line;
        }
    };
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(work);
        }
    });
    let rows = rows.into_inner().unwrap();
    if rows.iter().any(String::is_empty) {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/modes.md");
    let mut text = fs::read_to_string(&path).unwrap();
    for (at, table) in tables.iter().enumerate() {
        let rows = jobs.iter().zip(&rows).filter(|((of, _), _)| *of == at);
        let rows: String = rows.map(|(_, row)| row.as_str()).collect();
        text = replaced(&text, table.name, &format!("{}{rows}", table.head()));
    }
    expect_file![path].assert_eq(&text);
}

/// The document with another table of this name.
fn replaced(text: &str, name: &str, table: &str) -> String {
    let begin = format!("<!-- table: {name} -->\n");
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("no {begin:?}"));
    let (_, after) = rest.split_once("<!-- end -->\n").expect("a table has an end");
    format!("{before}{begin}{table}<!-- end -->\n{after}")
}
