package graphs

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Rows gathers rows of a table [n, width] as pixels [B, width] in [0,1]. rows [B] are the rows' numbers; a
// negative number stands for padding, which becomes zeros. The values of a table of bytes are looked up in unit,
// which holds byte/255 as the host computes it, because the device might round the division differently.
func Rows(table, rows *graph.Node, unit []float32) *graph.Node {
	width, batch := table.Shape().Dimensions[1], rows.Shape().Size()
	rows = graph.Reshape(rows, batch, 1)
	there := graph.GreaterOrEqual(rows, graph.ZerosLike(rows))
	x := graph.Gather(table, graph.MaxScalar(rows, 0))
	if table.DType() == dtypes.Uint8 {
		bytes := graph.Reshape(graph.ConvertDType(x, dtypes.Int32), batch, width, 1)
		x = graph.Reshape(graph.Gather(graph.Reshape(graph.Const(table.Graph(), unit), 256, 1), bytes), batch, width)
	}
	return graph.Where(graph.BroadcastToDims(there, batch, width), x, graph.ZerosLike(x))
}
