package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExample decodes the example of the package's documentation.
func TestExample(t *testing.T) {
	const text = `# callers at=github.com/acme/shop@9fceb02d0ae5 total=3
## of:method
1 kgo.Client.Produce pkg/kgo/producer.go:412-430
## callers edge=calls confidence~0.98 site
method kgo.sink.flush pkg/kgo/sink.go:80-99 . :88
..buffer ./sink.go:101-120 . :110
function main.run cmd/main.go:10-40 .7 :22
@1 .7 producer.go:419
`
	produce := Node{Kind: "method", Name: "kgo.Client.Produce", Path: "pkg/kgo/producer.go", Line: 412, EndLine: 430}
	want := Payload{
		Question: "callers",
		Scalars:  []Scalar{{"at", "github.com/acme/shop@9fceb02d0ae5"}, {"total", "3"}},
		Lists: []List{
			{Name: "of", Rows: []Row{{Nodes: []Node{produce}}}},
			{Name: "callers", Columns: []string{"edge", "confidence", "site"}, Rows: []Row{
				{Nodes: []Node{{Kind: "method", Name: "kgo.sink.flush", Path: "pkg/kgo/sink.go", Line: 80, EndLine: 99}}, Values: []string{"calls", "0.98", "pkg/kgo/sink.go:88"}},
				{Nodes: []Node{{Kind: "method", Name: "kgo.sink.buffer", Path: "pkg/kgo/sink.go", Line: 101, EndLine: 120}}, Values: []string{"calls", "0.98", "pkg/kgo/sink.go:110"}},
				{Nodes: []Node{{Kind: "function", Name: "main.run", Path: "cmd/main.go", Line: 10, EndLine: 40}}, Values: []string{"calls", "0.7", "cmd/main.go:22"}},
				{Nodes: []Node{produce}, Values: []string{"calls", "0.7", "pkg/kgo/producer.go:419"}},
			}},
		},
	}
	got, err := readers[Text]([]byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
}
