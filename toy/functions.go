package toy

import "math"

// f1 is the old task, log(1+x²) + 0.8(1−eˣ sin y)².
func f1(x, y float64) float64 {
	a := 1 - math.Exp(x)*math.Sin(y)
	return math.Log(1+x*x) + 0.8*a*a
}

// f2 is the new task, log(1+y²) + 0.004(0.1+eʸ cos x)².
func f2(x, y float64) float64 {
	b := 0.1 + math.Exp(y)*math.Cos(x)
	return math.Log(1+y*y) + 0.004*b*b
}

func grad1(x, y float64) (dx, dy float64) {
	e := math.Exp(x)
	a := 1 - e*math.Sin(y)
	return 2*x/(1+x*x) - 1.6*a*e*math.Sin(y), -1.6 * a * e * math.Cos(y)
}

func grad2(x, y float64) (dx, dy float64) {
	e := math.Exp(y)
	b := 0.1 + e*math.Cos(x)
	return -0.008 * b * e * math.Sin(x), 2*y/(1+y*y) + 0.008*b*e*math.Cos(x)
}
