//! The table, and which limits were missed.

use crate::common::series::Series;
use crate::common::table::{self, short};

/// The figures of callgate and of a peer, for each round.
pub(crate) type Pair = Series<2>;

/// One measure.
pub(crate) struct Row {
    name: &'static str,
    unit: &'static str,
    /// Whether a larger figure is better.
    is_rate: bool,
    ours: f64,
    /// The highest permitted figure.
    most: Option<f64>,
    node: Option<Peer>,
    claude: Option<Peer>,
}

/// A peer's part of a row.
struct Peer {
    figure: f64,
    /// How many times better callgate is.
    ratio: f64,
    /// How many times better it has to be.
    least: Option<f64>,
}

impl Pair {
    /// Creates a row of figures that are taken once.
    pub(crate) fn of(figures: [f64; 2]) -> Self {
        let mut series = Self::default();
        series.push(figures);
        series
    }
}

impl Row {
    pub(crate) fn new(name: &'static str, unit: &'static str, node: &Pair) -> Self {
        let peer = Some(Peer::new(node, false));
        Self { node: peer, ..Self::alone(name, unit, node.medians()[0]) }
    }

    /// Creates a row of callgate alone.
    pub(crate) fn alone(name: &'static str, unit: &'static str, ours: f64) -> Self {
        Self { name, unit, is_rate: false, ours, most: None, node: None, claude: None }
    }

    /// Marks a row in which a larger figure is better.
    pub(crate) fn rate(name: &'static str, unit: &'static str, node: &Pair) -> Self {
        Self { is_rate: true, node: Some(Peer::new(node, true)), ..Self::new(name, unit, node) }
    }

    /// Sets the highest permitted figure.
    pub(crate) fn at_most(mut self, most: f64) -> Self {
        self.most = Some(most);
        self
    }

    /// Sets how many times better than the Node runtime it has to be.
    pub(crate) fn node(mut self, least: f64) -> Self {
        self.node = self.node.map(|peer| Peer { least: Some(least), ..peer });
        self
    }

    /// Adds the figures of Claude Code, from rounds beside callgate.
    pub(crate) fn claude_has(mut self, series: &Pair) -> Self {
        self.claude = Some(Peer::new(series, self.is_rate));
        self
    }

    /// Sets how many times better than Claude Code it has to be.
    pub(crate) fn claude(mut self, least: f64) -> Self {
        self.claude = self.claude.map(|peer| Peer { least: Some(least), ..peer });
        self
    }

    fn peers(&self) -> [(&'static str, Option<&Peer>); 2] {
        [("Node", self.node.as_ref()), ("Claude", self.claude.as_ref())]
    }

    /// Returns the limit of its own figure as text.
    fn limit(&self) -> Option<String> {
        self.most.map(|most| format!("≤ {} {}", short(most), self.unit))
    }

    /// Returns the limits that it misses as text.
    fn missed(&self) -> Vec<String> {
        let peers = self.peers().into_iter().filter_map(|(name, peer)| Some((name, peer?)));
        let missed = peers.filter(|(_, peer)| peer.is_missed());
        let own = self.limit().filter(|_| self.most.is_some_and(|most| self.ours > most));
        own.into_iter().chain(missed.filter_map(|(name, peer)| peer.limit(name))).collect()
    }

    fn cells(&self) -> [String; 8] {
        let has_limit = self.most.is_some()
            || self.peers().iter().any(|(_, peer)| peer.is_some_and(|p| p.least.is_some()));
        let ok = match (has_limit, self.missed().is_empty()) {
            (false, _) => "",
            (true, true) => "yes",
            (true, false) => "NO",
        };
        let limits = self.peers().into_iter().filter_map(|(name, peer)| peer?.limit(name));
        let limits: Vec<String> = self.limit().into_iter().chain(limits).collect();
        let figure = |peer: Option<&Peer>| peer.map(|peer| short(peer.figure)).unwrap_or_default();
        let ratio =
            |peer: Option<&Peer>| peer.map(|p| format!("{}×", short(p.ratio))).unwrap_or_default();
        let [(_, node), (_, claude)] = self.peers();
        [
            format!("{}, {}", self.name, self.unit),
            short(self.ours),
            figure(node),
            figure(claude),
            ratio(node),
            ratio(claude),
            limits.join(", "),
            ok.to_owned(),
        ]
    }
}

impl Peer {
    fn new(series: &Pair, is_rate: bool) -> Self {
        let ratio = if is_rate { series.ratio(0, 1) } else { series.ratio(1, 0) };
        Self { figure: series.medians()[1], ratio, least: None }
    }

    fn limit(&self, name: &str) -> Option<String> {
        self.least.map(|least| format!("{name} ≥ {least}×"))
    }

    /// A figure that is too small to be measured meets every limit.
    fn is_missed(&self) -> bool {
        self.least.is_some_and(|least| self.ratio < least)
    }
}

/// Prints the table and the missed limits; returns how many were missed.
pub(crate) fn print(rows: &[Row]) -> usize {
    let titles = [
        "measure",
        "callgate",
        "Node",
        "Claude Code",
        "better than Node",
        "than Claude Code",
        "limit",
        "ok",
    ];
    let mut lines = vec![titles.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    table::print(&lines);
    let missed = |row: &Row| row.missed().into_iter().map(|limit| (row.name, limit)).collect();
    let missed: Vec<(&str, String)> = rows.iter().flat_map::<Vec<_>, _>(missed).collect();
    for (name, limit) in &missed {
        println!("missed: {name}: {limit}");
    }
    missed.len()
}
