package datasets

func parseNPZ(path string, p *parameters) own         { return nil }
func parseSafetensors(path string, p *parameters) own { return nil }
func parseCSV(path string, p *parameters) own         { return nil }
