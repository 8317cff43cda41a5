package schemas

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// CategoryNames and the lists beside it hold the text of each value of a small enumeration, indexed
// by the value's number: "build" for CATEGORY_BUILD. They are the dictionaries of the enumeration
// columns of IntentSchema.
var (
	CategoryNames     = enumNames(recountv1.Category_name, "CATEGORY_")
	ResourceKindNames = enumNames(recountv1.ResourceKind_name, "RESOURCE_KIND_")
	AccessNames       = enumNames(recountv1.Access_name, "ACCESS_")
	TokenKindNames    = enumNames(recountv1.TokenKind_name, "TOKEN_KIND_")
)

func enumNames(byNumber map[int32]string, prefix string) []string {
	names := make([]string, len(byNumber))
	for i := range names {
		names[i] = strings.ToLower(strings.TrimPrefix(byNumber[int32(i)], prefix))
	}
	return names
}

var (
	// arrowText is for strings that repeat, arrowEnum for one of a small fixed set.
	arrowText = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	arrowEnum = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}

	arrowTime     = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	arrowID       = &arrow.FixedSizeBinaryType{ByteWidth: 16}
	arrowVector   = arrow.FixedSizeListOfNonNullable(EmbeddingDim, arrow.PrimitiveTypes.Float32)
	arrowResource = arrow.StructOf(
		arrow.Field{Name: "kind", Type: arrowEnum},
		arrow.Field{Name: "access", Type: arrowEnum},
		arrow.Field{Name: "name", Type: arrowText},
	)
	arrowToken = arrow.StructOf(
		arrow.Field{Name: "kind", Type: arrowEnum},
		arrow.Field{Name: "offset", Type: arrow.PrimitiveTypes.Uint32},
		arrow.Field{Name: "text", Type: arrowText},
	)
)

// IntentSchema is the Arrow schema of exported intents: one row per intent, the position of its
// event first.
var IntentSchema = arrow.NewSchema([]arrow.Field{
	{Name: "topic", Type: arrowText},
	{Name: "partition", Type: arrow.PrimitiveTypes.Int32},
	{Name: "offset", Type: arrow.PrimitiveTypes.Int64},
	{Name: "id", Type: arrowID},
	{Name: "time", Type: arrowTime},
	{Name: "event_time", Type: arrowTime},
	{Name: "command", Type: arrow.BinaryTypes.String},
	{Name: "stated_intent", Type: arrow.BinaryTypes.String},
	{Name: "output_tail", Type: arrow.BinaryTypes.String},
	{Name: "workspace", Type: arrowText},
	{Name: "cwd", Type: arrowText},
	{Name: "session", Type: arrowText},
	{Name: "shell", Type: arrowText},
	{Name: "user", Type: arrowText},
	{Name: "host", Type: arrowText},
	{Name: "author", Type: arrowText},
	{Name: "template", Type: arrowText},
	{Name: "git_head", Type: arrowText},
	{Name: "embedder", Type: arrowText},
	{Name: "category", Type: arrowEnum},
	{Name: "confidence", Type: arrow.PrimitiveTypes.Float32},
	{Name: "complexity", Type: arrow.PrimitiveTypes.Uint32},
	{Name: "exit_code", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "duration", Type: arrow.FixedWidthTypes.Duration_ns, Nullable: true},
	{Name: "context_hash", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "content_hash", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "parent_id", Type: arrowID, Nullable: true},
	{Name: "programs", Type: arrow.ListOfNonNullable(arrowText)},
	{Name: "concepts", Type: arrow.ListOfNonNullable(arrowText)},
	{Name: "resources", Type: arrow.ListOfNonNullable(arrowResource)},
	{Name: "tokens", Type: arrow.ListOfNonNullable(arrowToken)},
	{Name: "embedding", Type: arrowVector, Nullable: true},
}, nil)
