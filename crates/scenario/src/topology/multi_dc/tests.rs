use super::super::tests::{network, ports, right};
use super::*;

fn three(more: &str) -> String {
    format!(
        "topology.multi-dc = {{ sites = 3, fabric.single-switch = {{ hosts = 2 }}, rate = '100G', delay = '1us', \
         {more} }}"
    )
}

fn names_of_long_links(network: &Network) -> Vec<String> {
    let is_long = |link: &&crate::topology::Link| link.tags[0] == "long-haul";
    network.links.iter().filter(is_long).map(|link| link.name.clone()).collect()
}

#[test]
fn for_two_sites_it_is_the_network_of_two_dc() {
    let inside = "fabric.fat-tree.k = 4, rate = '100G', delay = '1us', core-dci = { rate = '200G' }";
    let two = right(&format!(
        "topology.two-dc = {{ {inside}, long-link = {{ rate = '400G', length = '80km', count = 2 }} }}"
    ));
    for long in [
        "[{ between = ['b', 'a'], rate = '400G', length = '80km', count = 2 }]",
        "{ lengths = [['', '80km'], ['', '']], rate = '400G', counts = [[0, 2], [2, 0]] }",
        "{ full-mesh = '400us', rates = [[0, 0], ['400G', 0]], count = 2 }",
        "{ ring = ['80km'], rate = '400G', count = 2 }",
    ] {
        let multi = right(&format!("topology.multi-dc = {{ sites = 2, {inside}, long-links = {long} }}"));
        assert_eq!(multi, two, "{long}");
    }
}

#[test]
fn sites_have_their_own_names_fabrics_and_rates() {
    let network = right(
        "topology.multi-dc = { rate = '100G', delay = '1us', core-dci = { rate = '400G' }, sites = [\n\
         { name = 'paris', fabric.leaf-spine = { spines = 2, leaves = 2, hosts = 1 } },\n\
         { fabric.chain = { switches = 2 }, rate = '25G' },\n\
         { name = 'oslo', fabric.dumbbell = { left = 1, right = 2 }, core-dci = { rate = '200G', delay = '2us' } },\n\
         { name = 'rome', fabric.explicit = { hosts = ['rh'], switches = [{ name = 'rs', tags = ['gateway'] }],\n\
           links = [{ between = ['rh', 'rs'] }] } },\n\
         ], long-links = [\n\
         { between = ['paris', 'b'], rate = '400G', length = '40km', tags = ['sea'] },\n\
         { between = ['oslo', 'b'], rate = '400G', delay = '1ms', count = 2 },\n\
         { between = ['rome', 'paris'], rate = '100G', length = '1000km' },\n\
         ] }",
    );
    assert_eq!(
        network.names(),
        [
            "h1", "h2", "h3", "h4", "h5", "h6", "h7", "rh", "c1", "c2", "s2", "s4", "rs", "t1", "t2", "s1",
            "s3", "x1", "x2", "x3", "x4"
        ]
    );
    assert_eq!(names_of_long_links(&network), ["x1-x2", "x2-x3#1", "x2-x3#2", "x1-x4"]);
    assert_eq!(network.links[0].tags, ["long-haul", "long-paris-b", "sea"]);
    assert_eq!(ports(&network, "x1"), ["x1-x2", "x1-x4", "c1-x1", "c2-x1"]);
    // A chain by its last switch, a dumbbell by the right one.
    assert_eq!(ports(&network, "x2"), ["x1-x2", "x2-x3#1", "x2-x3#2", "s2-x2"]);
    assert_eq!(ports(&network, "x3"), ["x2-x3#1", "x2-x3#2", "s4-x3"]);
    let rate = |name: &str| {
        let link = network.links.iter().find(|link| link.name == name).expect("it is there");
        (link.rate.as_gbps(), link.delay.as_us())
    };
    assert_eq!((rate("c1-x1"), rate("h3-s1"), rate("s2-x2")), ((400.0, 1.0), (25.0, 1.0), (400.0, 1.0)));
    assert_eq!((rate("s4-x3"), rate("h5-s3"), rate("rh-rs")), ((200.0, 2.0), (100.0, 1.0), (100.0, 1.0)));
    let oslo = network.find("h6").expect("it is there");
    assert_eq!(network.nodes[oslo].tags, ["host", "dc-oslo", "right"]);
}

#[test]
fn each_long_link_may_have_its_own_dci_switches() {
    let long = "long-links = { full-mesh = '80km', rate = '400G' }";
    let network = right(&three(&format!("dci = 'per-link', {long}")));
    // Of a: x1 to b, x2 to c; of b: x3 to a, x4 to c; of c: x5 to a, x6 to b.
    assert_eq!(names_of_long_links(&network), ["x1-x3", "x2-x5", "x4-x6"]);
    assert_eq!(ports(&network, "x4"), ["x4-x6", "s2-x4"]);
    assert_eq!(ports(&network, "s2"), ["s2-x3", "s2-x4", "h3-s2", "h4-s2"]);
    assert_eq!(network.nodes[network.find("x5").expect("it is there")].tags, ["dci", "dc-c"]);
    assert_eq!(names_of_long_links(&right(&three(long))), ["x1-x2", "x1-x3", "x2-x3"]);
}

#[test]
fn rings_and_matrices_set_the_distances_of_sites() {
    let lines = |long: &str| -> Vec<String> {
        let network = right(&three(&format!("long-links = {long}")));
        let long = network.links.iter().filter(|link| link.tags[0] == "long-haul");
        long.map(|link| format!("{} {} {}", link.name, link.rate, link.delay)).collect()
    };
    assert_eq!(
        lines("{ ring = ['40km', '1ms', '120km'], rate = '400G' }"),
        ["x1-x2 400G 200us", "x1-x3 400G 600us", "x2-x3 400G 1ms"]
    );
    assert_eq!(
        lines(
            "{ lengths = [[0, '40km', ''], ['', '0km', '80km'], [0, '80km', 0]], rate = '400G', rates = [['', '100G', ''], ['', '', ''], ['', '', '']] }"
        ),
        ["x1-x2 100G 200us", "x2-x3 400G 400us"]
    );
    assert_eq!(
        lines(
            "{ delays = [['', '1ms', '2ms'], ['', '', '3ms'], ['', '', '']], rate = '1G', counts = [[0, 1, 2], [0, 0, 0], [0, 0, 0]] }"
        ),
        ["x1-x2 1G 1ms", "x1-x3#1 1G 2ms", "x1-x3#2 1G 2ms"]
    );
}

#[test]
fn matrices_that_do_not_fit_are_refused_by_row_and_column() {
    let error = |long: &str| network(&three(&format!("long-links = {{ {long} }}"))).unwrap_err();
    let says = |long: &str, due: &str| assert_eq!(error(long), format!("multi-dc.long-links{due}"));
    says("lengths = [['', '1km'], ['', '']], rate = '1G'", ".lengths: it has 2 rows for 3 sites");
    says(
        "lengths = [[0, '1km', '1km'], [0, 0], [0, 0, 0]], rate = '1G'",
        ".lengths.2: row \"b\" has 2 columns for 3 sites",
    );
    says(
        "delays = [[0, '1ms', 0], ['2ms', 0, 0], [0, 0, 0]], rate = '1G'",
        ".delays.2.1: row \"b\", column \"a\" is 2ms, but row \"a\", column \"b\" is 1ms: a long link is the same both ways",
    );
    says(
        "lengths = [[0, 0, 0], [0, '4km', 0], [0, 0, 0]], rate = '1G'",
        ".lengths.2.2: row \"b\", column \"b\" is 4km: a site has no long link to itself",
    );
    says(
        "lengths = [[0, '4km', 0], [0, 0, '4km'], [0, 0, 0]], rates = [[0, '1G', 0], [0, 0, 0], [0, 0, 0]]",
        ".rates.2.3: row \"b\", column \"c\" has no rate, and there is no \"rate\" for all",
    );
    says(
        "ring = '4km', rate = '1G', lengths = []",
        ".ring: \"lengths\" and \"ring\" are given: give one of lengths, delays, ring, full-mesh",
    );
    says("rate = '1G'", ": it has no distances: give one of lengths, delays, ring, full-mesh");
    says("full-mesh = '4km'", ": the key \"rate\" is missing");
    says("full-mesh = '0km', rate = '1G'", ".full-mesh: a link needs a delay above 0");
    says("ring = ['4km', '1km'], rate = '1G'", ".ring: it has 2 values for 3 links among 3 sites");
    says(
        "lengths = [[0, '4km', 0], [0, 0, '4km'], [0, 0, 0]], rate = '1G', counts = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]",
        ".counts: \"a\" and \"c\" have a count, but no distance",
    );
    assert_eq!(
        error("full-mesh = '4k', rate = '1G'"),
        "a:1: topology.multi-dc.long-links.full-mesh: \"4k\" is neither a length like \"80km\" nor a time like \"400us\""
    );
    assert_eq!(
        error("full-mehs = '4km'"),
        "a:1: topology.multi-dc.long-links: \"full-mehs\" is not a key; allowed: lengths, delays, ring, full-mesh, \
         rate, rates, count, counts, tags; did you mean \"full-mesh\"?"
    );
}

#[test]
fn faults_of_sites_are_found() {
    let error = |keys: &str| {
        network(&format!("topology.multi-dc = {{ {keys}, rate = '1G', delay = '1us' }}")).unwrap_err()
    };
    let hosts = "fabric.single-switch.hosts = 1";
    let mesh = "long-links = { full-mesh = '1km', rate = '1G' }";
    let link =
        |between: &str| format!("long-links = [{{ between = {between}, rate = '1G', length = '1km' }}]");
    assert_eq!(
        error(&format!("sites = 1, {hosts}, {mesh}")),
        "multi-dc.sites: 1 is not a number of sites from 2 to 1024"
    );
    assert_eq!(error(&format!("sites = 2, {mesh}")), "multi-dc: the key \"fabric\" is missing");
    assert_eq!(
        error(&format!("sites = [{{ name = 'paris' }}, {{ {hosts} }}], {mesh}")),
        "multi-dc.sites.paris: the key \"fabric\" is missing"
    );
    assert_eq!(
        error(&format!("sites = [{{ name = 'b' }}, {{ }}], {hosts}, {mesh}")),
        "multi-dc.sites.2.name: sites 1 and 2 are both named \"b\""
    );
    assert_eq!(
        error(&format!("sites = [{{ name = 'a b' }}, {{ }}], {hosts}, {mesh}")),
        "multi-dc.sites.1.name: \"a b\" is not a name of letters, digits, - and _"
    );
    assert_eq!(
        error(&format!(
            "sites = [{{ name = 'paris' }}, {{ name = 'oslo' }}], {hosts}, {}",
            link("['paris', 'oslp']")
        )),
        "multi-dc.long-links.1.between: no site is named \"oslp\"; allowed: paris, oslo; did you mean \"oslo\"?"
    );
    assert_eq!(
        error(&format!("sites = 2, {hosts}, {}", link("['a', 'a']"))),
        "multi-dc.long-links.1.between: site \"a\" is linked with itself"
    );
    assert_eq!(
        error(&format!("sites = 3, {hosts}, {}", link("['a', 'b']"))),
        "multi-dc: it is not connected: no links lead from h1 to h3"
    );
    assert_eq!(
        error(&format!(
            "sites = 2, fabric.explicit = {{ hosts = ['h'], switches = ['s'], links = [{{ between = ['h', 's'] }}] }}, {mesh}"
        )),
        "multi-dc.fabric.explicit: no switch is tagged \"gateway\": to those the DCI switch is linked"
    );
    assert_eq!(
        error(&format!("sites = [{{ {hosts} }}, {{ fabric.fat-tree.k = 3 }}], {mesh}")),
        "multi-dc.sites.2.fabric.fat-tree.k: 3 is not an even number from 2 to 256"
    );
    assert!(
        error(&format!("sites = 'two', {hosts}, {mesh}"))
            .ends_with("a number of sites, or a list of tables is required")
    );
}

#[test]
fn letters_go_on_after_z() {
    assert_eq!([0, 25, 26, 27, 701, 702].map(letters), ["a", "z", "aa", "ab", "zz", "aaa"]);
}
