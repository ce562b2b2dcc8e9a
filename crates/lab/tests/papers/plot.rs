//! Plots with two logarithmic axes, as SVG: points and lines of ours and of papers, and lines of equal cost.

use std::fmt::Write;

use super::figure::COLOURS;

/// What a curve is of.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Our runs.
    Ours,
    /// Numbers of a paper.
    Theirs,
    /// A line of equal cost, named where it begins.
    Cost,
}

/// A line through points, or one point alone.
pub struct Curve {
    pub name: String,
    pub kind: Kind,
    /// Both coordinates positive.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 520.0;
/// Where the axes are, and where the names of the curves begin.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 460.0;

/// Decades of an axis, and the place of a number on it.
struct Axis {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn new(numbers: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let least = numbers.clone().fold(f64::MAX, f64::min).log10().floor();
        let most = numbers.fold(f64::MIN_POSITIVE, f64::max).log10().ceil();
        Self { least, most: most.max(least + 1.0), from, to }
    }

    fn at(&self, number: f64) -> f64 {
        self.from + (self.to - self.from) * (number.log10() - self.least) / (self.most - self.least)
    }

    fn holds(&self, number: f64) -> bool {
        (self.least..=self.most).contains(&number.log10())
    }

    /// Each decade with its place and its label.
    fn decades(&self) -> impl Iterator<Item = (f64, String)> {
        (self.least as i32..=self.most as i32).map(|decade| {
            let digits = usize::try_from(-decade).unwrap_or(0);
            (self.at(10f64.powi(decade)), format!("{:.digits$}", 10f64.powi(decade)))
        })
    }
}

/// Draws the curves, of which some are not of costs; lines of cost reach as far as the others need.
pub fn plot(across: &str, upwards: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().filter(|curve| curve.kind != Kind::Cost).flat_map(|curve| curve.points.iter());
    let x = Axis::new(points().map(|point| point.0), LEFT, RIGHT);
    let y = Axis::new(points().map(|point| point.1), BOTTOM, TOP);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (place, label) in y.decades() {
        let _ = writeln!(text, "<path d=\"M{LEFT} {place:.1}H{RIGHT}\" stroke=\"#ddd\"/>");
        let _ =
            writeln!(text, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 8.0, place + 4.0);
    }
    for (place, label) in x.decades() {
        let _ = writeln!(text, "<path d=\"M{place:.1} {TOP}V{BOTTOM}\" stroke=\"#ddd\"/>");
        let _ = writeln!(text, "<text x=\"{place:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>", BOTTOM + 20.0);
    }
    let middle = (LEFT + RIGHT) / 2.0;
    let _ = writeln!(text, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{across}</text>", BOTTOM + 44.0);
    let turned = format!("transform=\"translate(18 {}) rotate(-90)\"", (TOP + BOTTOM) / 2.0);
    let _ = writeln!(text, "<text {turned} text-anchor=\"middle\">{upwards}</text>");

    for curve in curves.iter().filter(|curve| curve.kind == Kind::Cost) {
        cost_line(&mut text, curve, &x, &y);
    }
    let named = curves.iter().filter(|curve| curve.kind != Kind::Cost).enumerate();
    for (at, curve) in named {
        let colour = COLOURS[at % COLOURS.len()];
        let width = if at < COLOURS.len() { 2.5 } else { 1.2 };
        let is_theirs = curve.kind == Kind::Theirs;
        let dashes = if is_theirs { " stroke-dasharray=\"6 4\"" } else { "" };
        let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dashes}");
        let fill = if is_theirs { "white" } else { colour };
        let mut circle = |cx: f64, cy: f64| {
            let _ =
                writeln!(text, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\" fill=\"{fill}\" stroke=\"{colour}\"/>");
        };
        for &(of_x, of_y) in &curve.points {
            circle(x.at(of_x), y.at(of_y));
        }
        let row = TOP + 12.0 + 22.0 * at as f64;
        circle(RIGHT + 26.0, row - 4.0);
        if curve.points.len() > 1 {
            let _ = writeln!(text, "<path d=\"{}\" {style}/>", path(&curve.points, &x, &y));
            let _ = writeln!(text, "<path d=\"M{} {}h24\" {style}/>", RIGHT + 14.0, row - 4.0);
        }
        let _ = writeln!(text, "<text x=\"{}\" y=\"{row}\">{}</text>", RIGHT + 44.0, curve.name);
    }
    text.push_str("</svg>\n");
    text
}

fn path(points: &[(f64, f64)], x: &Axis, y: &Axis) -> String {
    let places: Vec<String> =
        points.iter().map(|&(of_x, of_y)| format!("{:.1} {:.1}", x.at(of_x), y.at(of_y))).collect();
    format!("M{}", places.join("L"))
}

/// The part of a line of equal cost that lies between the axes.
fn cost_line(text: &mut String, curve: &Curve, x: &Axis, y: &Axis) {
    let inside: Vec<(f64, f64)> =
        curve.points.iter().copied().filter(|&(of_x, of_y)| x.holds(of_x) && y.holds(of_y)).collect();
    let Some(&(first_x, first_y)) = inside.first() else { return };
    let _ = writeln!(text, "<path d=\"{}\" fill=\"none\" stroke=\"#aaa\"/>", path(&inside, x, y));
    let _ = writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#777\" font-size=\"11\">{}</text>",
        x.at(first_x) + 3.0,
        y.at(first_y) - 3.0,
        curve.name
    );
}

#[test]
fn a_plot_has_its_points_lines_and_costs() {
    let curve = |name: &str, kind, points: &[(f64, f64)]| Curve { name: name.into(), kind, points: points.into() };
    let text = plot(
        "MB",
        "s",
        &[
            curve("ours", Kind::Ours, &[(1.0, 0.1), (100.0, 10.0)]),
            curve("theirs", Kind::Theirs, &[(10.0, 1.0)]),
            curve("4 USD", Kind::Cost, &[(0.1, 1.0), (1.0, 1.0), (10.0, 1.0), (1000.0, 1.0)]),
        ],
    );
    assert!(text.contains(&format!("M{LEFT:.1} {BOTTOM:.1}L{RIGHT:.1} {TOP:.1}")), "{text}");
    // The point of theirs is in the middle, and hollow.
    let (middle_x, middle_y) = ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0);
    let hollow = format!("<circle cx=\"{middle_x:.1}\" cy=\"{middle_y:.1}\" r=\"4\" fill=\"white\"");
    assert!(text.contains(&hollow), "{text}");
    // Of the cost what lies between the axes.
    let line = format!("M{LEFT:.1} {middle_y:.1}L{middle_x:.1} {middle_y:.1}\" fill=\"none\" stroke=\"#aaa\"");
    assert!(text.contains(&line) && text.contains(">4 USD<"), "{text}");
}
