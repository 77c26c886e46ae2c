// The circuit of the demo: "I know a secret behind one leaf of this tree", without saying which.
//
// The hash is made for this demo alone: a Feistel network with x^5 and 110 rounds, constants computed
// from their round number. Nobody has analysed it. Never use it where anything is at stake.
pragma circom 2.0.0;

function rounds() {
    return 110;
}

// constant(0) = 0, constant(i) = (constant(i - 1) + i)^5 + 7
function constant(round) {
    var value = 0;
    for (var i = 1; i <= round; i++) {
        value = (value + i) ** 5 + 7;
    }
    return value;
}

// left' = right + (left + constant)^5, right' = left
template Round(constant) {
    signal input left;
    signal input right;
    signal output next;

    signal square <== (left + constant) * (left + constant);
    signal fourth <== square * square;
    next <== right + fourth * (left + constant);
}

// One element from two: the network's left half plus both inputs.
template Hash() {
    signal input left;
    signal input right;
    signal output digest;

    var count = rounds();
    signal state[count + 2];
    state[0] <== right;
    state[1] <== left;
    component round[count];
    for (var i = 0; i < count; i++) {
        round[i] = Round(constant(i));
        round[i].left <== state[i + 1];
        round[i].right <== state[i];
        state[i + 2] <== round[i].next;
    }
    digest <== state[count + 1] + left + right;
}

// The parent of a node and its sibling; side = 1 puts the node on the right.
template Parent() {
    signal input node;
    signal input sibling;
    signal input side;
    signal output parent;

    side * (side - 1) === 0;
    signal left <== node + side * (sibling - node);
    component hash = Hash();
    hash.left <== left;
    hash.right <== node + sibling - left;
    parent <== hash.digest;
}

template PathLeadsToRoot() {
    signal input reached;
    signal input root;

    reached === root;
}

// The nullifier is the same whenever the same member acts in the same scope, and tells nothing else.
template Membership(depth) {
    signal input root;
    signal input scope;
    signal input secret;
    signal input siblings[depth];
    signal input sides[depth];
    signal output nullifier;

    component leaf = Hash();
    leaf.left <== secret;
    leaf.right <== 0;

    component level[depth];
    for (var i = 0; i < depth; i++) {
        level[i] = Parent();
        level[i].node <== i == 0 ? leaf.digest : level[i - 1].parent;
        level[i].sibling <== siblings[i];
        level[i].side <== sides[i];
    }
    component path = PathLeadsToRoot();
    path.reached <== level[depth - 1].parent;
    path.root <== root;

    component mark = Hash();
    mark.left <== secret;
    mark.right <== scope + 1;
    nullifier <== mark.digest;
}

component main {public [root, scope]} = Membership(10);
