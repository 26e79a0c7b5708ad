#version 330 core
noperspective in vec4 v_fill; // premultiplied
layout(location = 0) out vec4 o_color;

void main()
{
    o_color = v_fill;
}
