package embed_test

import (
	"fmt"

	"github.com/recountdb/recount/processors/embed"
)

// A description and a command share the concepts that both match.
func Example() {
	fmt.Println(embed.CommandConcepts("tar -xzf site.tgz"))
	fmt.Println(embed.Concepts("unpack a compressed archive"))
	// Output:
	// [archive compress decompress extract]
	// [archive compress extract]
}
