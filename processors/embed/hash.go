package embed

import (
	"math"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
)

// Hash is an embedder without a model. The features of a text are its words and its concepts. Each
// is hashed to a few dimensions with a sign and added there with a fixed weight.
type Hash struct{}

// NewHash returns the hash embedder.
func NewHash() Hash { return Hash{} }

// Name returns "hash/1". The version covers the concept table, the weights and the arithmetic.
func (Hash) Name() string { return "hash/1" }

// These are the weights of words, relative to a class of weight 1.
const (
	wordWeight   = 2
	commonWeight = 0.15
	numberWeight = 0.5
	maxRatio     = 3.0 // maximum of words to concepts, in squared weights
	spread       = 6   // number of dimensions of a feature
)

// Embed returns the vector of a text. It is a pure function.
func (Hash) Embed(text string) [Dim]float32 {
	r := readings.Get().(*reading)
	defer readings.Put(r)
	r.reset()
	compiled().read(text, looksLikeShell(text), r)
	return r.vector()
}

// EmbedCommand returns the vector of a command and its stated purpose. It is a pure function.
func (Hash) EmbedCommand(command, stated string) [Dim]float32 {
	r := readings.Get().(*reading)
	defer readings.Put(r)
	r.reset()
	compiled().read(command, true, r)
	if stated != "" {
		compiled().read(stated, false, r)
	}
	return r.vector()
}

// vector adds up the features: concepts in the order of the table, then sorted words, so that the
// order of addition does not depend on the order of the text.
func (r *reading) vector() [Dim]float32 {
	d := compiled()
	var v [Dim]float32
	var concepts, words float32 // sums of squared weights
	for _, id := range r.classes() {
		w := d.classes[id].weight
		add(&v, xxh3.HashString(d.classes[id].name), w)
		concepts += float32(w * w)
	}
	slices.Sort(r.words)
	r.words = slices.Compact(r.words)
	r.weights = r.weights[:0]
	for _, w := range r.words {
		x := weigh(w)
		r.weights = append(r.weights, x)
		words += float32(x * x)
	}
	// Limit the words, so that many names (a long URL) do not outweigh the concepts.
	scale := float32(1)
	if concepts > 0 && words > float32(maxRatio*concepts) {
		scale = float32(math.Sqrt(float64(float32(maxRatio*concepts) / words)))
	}
	for i, w := range r.words {
		if x := float32(r.weights[i] * scale); x != 0 {
			add(&v, xxh3.HashStringSeed(w, 1), x)
		}
	}
	normalise(&v)
	return v
}

// weigh returns the fixed weight of a word.
func weigh(w string) float32 {
	if x, known := wordWeights()[w]; known {
		return x
	}
	switch {
	case len(w) == 1:
		return commonWeight
	case w[0] >= '0' && w[0] <= '9':
		return numberWeight
	}
	return wordWeight
}

// wordWeights maps the words with a weight of their own to it.
var wordWeights = sync.OnceValue(func() map[string]float32 {
	m := make(map[string]float32, len(common)+len(little))
	for w := range common {
		m[w] = commonWeight
	}
	for w := range little {
		m[w] = 0
	}
	return m
})

// add adds a feature to some dimensions, which its hash selects.
func add(v *[Dim]float32, h uint64, weight float32) {
	for range spread {
		// splitmix64: the next number of a sequence that starts at the feature's hash.
		h += 0x9e3779b97f4a7c15
		z := (h ^ h>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		x := weight
		if z>>63 == 1 {
			x = -weight
		}
		v[z%Dim] += x
	}
}

// normalise scales the vector to unit length. The sum has a fixed order, and every product is
// rounded by itself, so that no compiler fuses it with the addition: the result has the same bits
// on every CPU.
func normalise(v *[Dim]float32) {
	var sum float64
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
